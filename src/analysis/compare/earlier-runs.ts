import { groupBy } from '../../measure/group.js';
import { mean } from '../../measure/summary.js';
import { rowsByKey } from '../../results/row-key.js';
import type { Run } from '../../results/schema.js';
import { type SetUp, setUpKey } from './set-up.js';

/** A run of the past: how long its rows took. */
export interface EarlierRun extends SetUp {
  readonly id: string;
  readonly startedAt: string;
  /** Median nanoseconds per iteration of the rows that passed, by `rowKey`. */
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
  /** Means over runs that are alike, by set-up. */
  readonly levels: ReadonlyMap<string, readonly Level[]>;
}

interface Level {
  readonly mean: number;
  readonly runs: number;
}

export function earlierRunOf(run: Run): EarlierRun {
  const { id, benchmark, startedAt, world, fabric, settings } = run;
  const times = [...rowsByKey(run.rows)].flatMap(([key, [row]]) =>
    row!.outcome === 'passed' && row!.nanoseconds !== null
      ? [[key, row!.nanoseconds.p50] as const]
      : [],
  );
  return { id, benchmark, startedAt, world, fabric, settings, times: new Map(times) };
}

type Compared = Pick<Run, 'id' | 'startedAt'> & SetUp;

/** Earlier runs by their set-up, oldest first. */
export type History = ReadonlyMap<string, readonly EarlierRun[]>;

/** The runs before those compared that were made like one side or the other. */
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

export function variationOf(history: History, key: string): Variation | undefined {
  const cut = [...history].map(([setUp, runs]) => {
    const times = runs.flatMap(({ times }) => times.get(key) ?? []);
    return [setUp, stretchesOf(times.map((time) => Math.log(Math.max(time, 1e-3))))] as const;
  });
  const stretches = cut.flatMap(([, some]) => some);
  const degrees = sum(stretches.map(({ length }) => length - 1));
  if (degrees < fewestDegrees) return undefined;
  const levels = cut.map(([setUp, some]) => {
    const found = some.map((values) => ({ mean: mean(values), runs: values.length }));
    return [setUp, found] as const;
  });
  return {
    spread: Math.sqrt(sum(stretches.map(squaresOf)) / degrees),
    degrees,
    runs: sum(stretches.map(({ length }) => length)),
    largest: Math.max(...stretches.map((values) => Math.max(...values) - Math.min(...values))),
    levels: new Map(levels),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const squaresOf = (values: readonly number[]): number => {
  const middle = mean(values);
  return sum(values.map((value) => (value - middle) ** 2));
};

const fewestInStretch = 3;
/** How many standard deviations a step must be high. */
const cleanStep = 5;

/**
 * Values in the order of time, cut in two at a clean step: before and after it they do not overlap, and the step is far
 * larger than they vary. Something changed there once; counted as noise, it would hide the next change of its size.
 * Values that go back and forth are left whole: that is noise.
 */
function stretchesOf(values: readonly number[]): (readonly number[])[] {
  if (values.length === 0) return [];
  let best: { at: number; squares: number } | undefined;
  for (let at = fewestInStretch; at <= values.length - fewestInStretch; at++) {
    const squares = squaresOf(values.slice(0, at)) + squaresOf(values.slice(at));
    if (squares < (best?.squares ?? Number.POSITIVE_INFINITY)) best = { at, squares };
  }
  if (best === undefined) return [values];
  const [before, after] = [values.slice(0, best.at), values.slice(best.at)];
  const apart =
    Math.max(...before) < Math.min(...after) || Math.max(...after) < Math.min(...before);
  const within = Math.sqrt(best.squares / (values.length - 2));
  const step = Math.abs(mean(after) - mean(before));
  return apart && step > cleanStep * within ? [before, after] : [values];
}
