import { groupBy } from '../../measure/group.js';
import { quantile } from '../../measure/quantile.js';
import { mean } from '../../measure/summary.js';
import { rowsByKey } from '../../results/row-key.js';
import type { Run } from '../../results/schema.js';
import { changePoints } from '../history/change-points.js';
import { type SetUp, setUpKey } from './set-up.js';

/** A run of the past: how long its rows took. */
export interface EarlierRun extends SetUp {
  readonly id: string;
  readonly startedAt: string;
  /** Median nanoseconds per iteration of the rows that passed, by `rowKey`; of repeats the geometric mean. */
  readonly times: Pick<ReadonlyMap<string, number>, 'get'>;
}

/** How much one row differed between runs of the same set-up. Logarithms: 0.1 is about 10 %. */
export interface Variation {
  /** Standard deviation between runs. */
  readonly spread: number;
  readonly degrees: number;
  readonly runs: number;
  /** The most by which two of them differed. */
  readonly largest: number;
  /** Means over earlier runs that are alike, by set-up. */
  readonly levels: ReadonlyMap<string, readonly Level[]>;
}

interface Level {
  readonly mean: number;
  readonly runs: number;
}

/** What a comparison needs of a run of the past. */
export function earlierRunOf(run: Run): EarlierRun {
  const { id, benchmark, startedAt, world, fabric, settings } = run;
  const times = [...rowsByKey(run.rows)].flatMap(([key, rows]) => {
    const medians = rows.flatMap(({ outcome, nanoseconds }) =>
      outcome === 'passed' && nanoseconds !== null ? nanoseconds.p50 : [],
    );
    return medians.length === 0 ? [] : [[key, Math.exp(mean(medians.map(Math.log)))] as const];
  });
  return { id, benchmark, startedAt, world, fabric, settings, times: new Map(times) };
}

type Compared = Pick<Run, 'id' | 'startedAt'> & SetUp;

/** Earlier runs by their set-up, oldest first. */
export type History = ReadonlyMap<string, readonly EarlierRun[]>;

/** The runs before those compared that were made like one side or the other, without those compared. */
export function runsLike(
  history: readonly EarlierRun[],
  sides: readonly (readonly Compared[])[],
): History {
  const compared = sides.flat();
  const ids = new Set(compared.map(({ id }) => id));
  const setUps = new Set(compared.map(setUpKey));
  const end = sides.map(startOf).sort().at(-1)!;
  const earlier = history
    .filter(({ id, startedAt }) => !ids.has(id) && startedAt < end)
    .sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
  return new Map([...groupBy(earlier, setUpKey)].filter(([setUp]) => setUps.has(setUp)));
}

/** When the first of a side's runs started. */
export const startOf = (side: readonly Pick<Run, 'startedAt'>[]): string =>
  side.map(({ startedAt }) => startedAt).sort()[0]!;

/** At least three runs of one set-up, or so many more than set-ups. */
const fewestDegrees = 2;
/** Of a row in one set-up; older runs say little about today. */
const mostRuns = 200;

/** Learns from earlier runs, and from the compared runs of each side, which share no level with other runs. */
export function variationOf(
  history: History,
  key: string,
  sides: readonly (readonly number[])[],
): Variation | undefined {
  const cut = [...history].map(([setUp, runs]) => {
    const times = runs.flatMap(({ times }) => times.get(key) ?? []).slice(-mostRuns);
    return [setUp, levelsOf(times.map((time) => Math.log(Math.max(time, 1e-3))))] as const;
  });
  const own = sides.filter(({ length }) => length > 1);
  const groups = [...cut.flatMap(([, some]) => some), ...own];
  const { degrees, spread } = pooled(groups);
  if (degrees < fewestDegrees) return undefined;
  const levels = cut.map(([setUp, some]) => {
    const found = some.map((values) => ({ mean: mean(values), runs: values.length }));
    return [setUp, found] as const;
  });
  return {
    spread,
    degrees,
    runs: sum(groups.map(({ length }) => length)),
    largest: Math.max(...groups.map((values) => Math.max(...values) - Math.min(...values))),
    levels: new Map(levels),
  };
}

/** Standard deviation within groups, of which each has its own mean. */
export function pooled(groups: readonly (readonly number[])[]) {
  const degrees = sum(groups.map(({ length }) => Math.max(0, length - 1)));
  return { degrees, spread: Math.sqrt(sum(groups.map(squaresOf)) / Math.max(1, degrees)) };
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const squaresOf = (values: readonly number[]): number => {
  const middle = mean(values);
  return sum(values.map((value) => (value - middle) ** 2));
};

/** A smaller step is noise. */
const smallestStep = Math.log1p(0.05);

/**
 * Values in the order of time, cut where their level changed for good: counted as noise, such a change would hide the
 * next of its size. Levels that come back are left whole: that is noise.
 */
function levelsOf(values: readonly number[]): (readonly number[])[] {
  if (values.length === 0) return [];
  const bounds = [0, ...changePoints(values, smallestStep), values.length];
  const levels = bounds.slice(1).map((to, i) => values.slice(bounds[i], to));
  const middles = levels
    .map((level) => [quantile(level, 0.25), quantile(level, 0.75)] as const)
    .sort(([one], [other]) => one - other);
  const apart = middles.every(([low], i) => i === 0 || low > middles[i - 1]![1]);
  return apart ? levels : [values];
}
