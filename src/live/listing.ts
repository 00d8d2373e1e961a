import { seriesOf } from '../analysis/history/series.js';
import { trendSteps } from '../analysis/history/words.js';
import { groupBy } from '../measure/group.js';
import type { IndexedRun } from '../results/run-index.js';
import { runSchemaName } from '../results/schema.js';
import type { RunFolder } from './run-folder.js';
import { RunLog } from './run-log.js';
import type { Listing, RunSummary } from './wire.js';

/** A part of the list, newest first. */
export interface Slice {
  readonly from: number;
  readonly count: number;
}

export const wholeList: Slice = { from: 0, count: Number.POSITIVE_INFINITY };

export function listingOf(folder: RunFolder, { from, count }: Slice): Listing {
  const runs = [...folder.runs()].sort(([, a], [, b]) => (whenOf(a) < whenOf(b) ? 1 : -1));
  const trends = trendsOf(folder.indexed);
  const trendOf = (key: string) => {
    const run = folder.ended(key);
    const trend = run && trends(run);
    return trend && { trend };
  };
  return {
    folder: folder.path,
    problem: folder.problem,
    unwatched: folder.unwatched,
    reading: folder.reading,
    total: runs.length,
    from,
    runs: runs.slice(from, from + count).map(([key, run]) => ({
      ...(run instanceof RunLog ? run.summary() : summaryOf(key, run)),
      ...trendOf(key),
    })),
  };
}

const whenOf = (run: RunLog | IndexedRun): string =>
  run instanceof RunLog
    ? (run.header?.startedAt ?? new Date(run.modifiedMs).toISOString())
    : run.startedAt;

function summaryOf(key: string, run: IndexedRun): RunSummary {
  const { id, startedAt, endedAt, outcome, tried, headline, modifiedMs, setup } = run;
  const { benchmark, world, fabric } = setup.header;
  return {
    key,
    state: outcome,
    rows: tried,
    modifiedAt: new Date(modifiedMs).toISOString(),
    header: { schema: runSchemaName, id, benchmark, startedAt, world, fabric },
    ...(endedAt !== null && { endedAt }),
    ...(headline && { headline }),
  };
}

/** As many runs as a small line tells apart. */
const runsInTrend = 24;
type Trends = (run: IndexedRun) => number[] | undefined;
let kept: { readonly runs: readonly IndexedRun[]; readonly trends: Trends } | undefined;

/** How the row that is a run's headline did up to that run. Series are made once for each state of the index. */
function trendsOf(runs: readonly IndexedRun[]): Trends {
  if (kept?.runs === runs) return kept.trends;
  const byRow = groupBy(seriesOf(runs), ({ row }) => `${row.column} ${row.bytes}`);
  const trends: Trends = ({ headline, ...run }) => {
    if (headline === undefined) return undefined;
    for (const { runs: own, nanoseconds } of byRow.get(`${headline.column} ${headline.bytes}`) ??
      []) {
      const at = own.findLastIndex(({ file }) => file === run.file);
      if (at > 0)
        return trendSteps(
          nanoseconds.slice(Math.max(0, at + 1 - runsInTrend), at + 1),
          runsInTrend,
        );
    }
    return undefined;
  };
  kept = { runs, trends };
  return trends;
}
