import { groupBy } from '../../measure/group.js';
import { median } from '../../measure/quantile.js';
import type { IndexedRun } from '../../results/index-entry.js';
import { changePoints, fewestValues } from './change-points.js';
import { type ChangedFact, changedFacts } from './facts.js';
import { type Place, type Series, type SeriesFilter, seriesOf } from './series.js';

export const usualTolerance = 0.05;

/** From one level of a series to the next. */
export interface LevelChange {
  /** Of the first run on the new level. */
  readonly index: number;
  /** Time after the change over time before it: 2 is twice as slow. */
  readonly factor: number;
}

/** A row over time. */
export interface Trend {
  readonly series: Series;
  readonly changes: readonly LevelChange[];
  /** Median time of the level that holds now. */
  readonly usualNanoseconds: number | null;
  /** The newest time over the usual one, where that is far more than runs differ by themselves. */
  readonly outlier: number | null;
  /** Too few runs to tell a change from chance. */
  readonly tooFew: boolean;
}

/** Changes of several rows of one place at the same time. */
export interface HistoryEvent {
  readonly place: Place;
  readonly before: IndexedRun;
  readonly after: IndexedRun;
  readonly rows: readonly { readonly trend: Trend; readonly factor: number }[];
  /** Median over the rows. */
  readonly factor: number;
  /** What else the run files record that was not the same any more. */
  readonly changed: readonly ChangedFact[];
}

export interface History {
  readonly runs: number;
  readonly tolerance: number;
  readonly trends: readonly Trend[];
  /** Newest first. */
  readonly events: readonly HistoryEvent[];
}

export interface HistoryOptions extends SeriesFilter {
  /** Smaller changes are not reported. */
  readonly tolerance?: number;
}

/** `runs` from the oldest to the newest. */
export function historyOf(runs: readonly IndexedRun[], options: HistoryOptions = {}): History {
  const { tolerance = usualTolerance } = options;
  const trends = seriesOf(runs, options).map((series) => trendOf(series, tolerance));
  return historyFrom(trends, tolerance);
}

/** Of trends that were found with this tolerance. */
export function historyFrom(trends: readonly Trend[], tolerance: number): History {
  const byPlace = groupBy(trends, ({ series }) => series.place);
  const events = [...byPlace].flatMap(([place, own]) => eventsOf(place, own));
  events.sort((a, b) => (a.after.startedAt < b.after.startedAt ? 1 : -1));
  const places = new Set(trends.map(({ series }) => series.runsOfPlace));
  const count = [...places].reduce((sum, own) => sum + own.length, 0);
  return { runs: count, tolerance, trends, events };
}

export function trendOf(series: Series, tolerance: number): Trend {
  const { nanoseconds } = series;
  const logs = nanoseconds.map(Math.log);
  const starts = changePoints(logs, Math.log1p(tolerance));
  const bounds = [0, ...starts, nanoseconds.length];
  const levels = bounds.slice(1).map((to, i) => median(nanoseconds.slice(bounds[i], to)));
  const changes = starts.map((index, i) => ({ index, factor: levels[i + 1]! / levels[i]! }));
  return {
    series,
    changes,
    usualNanoseconds: nanoseconds.length === 0 ? null : levels.at(-1)!,
    outlier: outlierOf(logs.slice(bounds.at(-2)), tolerance),
    tooFew: nanoseconds.length < fewestValues,
  };
}

/** Times the usual distance from the median: beyond that a value is rare whatever the noise looks like. */
const farAway = 6;

/** Of a level's values, in logarithms. */
function outlierOf(level: readonly number[], tolerance: number): number | null {
  const earlier = level.slice(0, -1);
  if (earlier.length < fewestValues) return null;
  const middle = median(earlier);
  const usual = median(earlier.map((value) => Math.abs(value - middle)));
  const distance = level.at(-1)! - middle;
  const limit = Math.max(Math.log1p(tolerance), farAway * usual);
  return Math.abs(distance) > limit ? Math.exp(distance) : null;
}

/** Rows notice the same change a run or two apart. */
const apart = 2;

interface Found {
  readonly trend: Trend;
  readonly factor: number;
  /** Among the runs of the place. */
  readonly at: number;
}

function eventsOf(place: Place, trends: readonly Trend[]): HistoryEvent[] {
  const runs = trends[0]!.series.runsOfPlace;
  const order = new Map(runs.map((run, i) => [run, i]));
  const found = trends.flatMap((trend) =>
    trend.changes.map(({ index, factor }): Found => {
      return { trend, factor, at: order.get(trend.series.runs[index]!)! };
    }),
  );
  return clustered(found).map((rows) => {
    const at = commonest(rows.map((row) => row.at));
    return {
      place,
      before: runs[at - 1]!,
      after: runs[at]!,
      rows: found
        .filter((one) => rows.includes(one))
        .map(({ trend, factor }) => ({ trend, factor })),
      factor: median(rows.map(({ factor }) => factor)),
      changed: changedFacts(
        runs.slice(0, at).map(({ setup }) => setup),
        runs.slice(at).map(({ setup }) => setup),
      ),
    };
  });
}

/** Changes in the same direction that lie at most `apart` runs from each other. */
function clustered(found: readonly Found[]): Found[][] {
  const clusters: Found[][] = [];
  for (const slower of [true, false]) {
    const own = found.filter(({ factor }) => factor > 1 === slower).sort((a, b) => a.at - b.at);
    const mine: Found[][] = [];
    for (const one of own) {
      const last = mine.at(-1);
      if (last !== undefined && one.at - last[0]!.at <= apart) last.push(one);
      else mine.push([one]);
    }
    clusters.push(...mine);
  }
  return clusters;
}

function commonest(values: readonly number[]): number {
  const counts = groupBy(values, (value) => value);
  return [...counts].reduce((a, b) => (b[1].length > a[1].length ? b : a))[0];
}
