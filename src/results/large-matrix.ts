import { groupBy } from '../measure/group.js';
import { median } from '../measure/quantile.js';
import { summarize } from '../measure/summary.js';
import { isInMatrix } from './row-kinds.js';
import type { Row, Run } from './schema.js';

/** Matrices of more ranks are not shown pair by pair, and a run in memory has no samples of their pairs. */
export const mostRanksInFull = 128;

/** Whether the pairs of a run are too many to show each. */
export const isLarge = ({ ranks }: Pick<Run['world'], 'ranks'>): boolean => ranks > mostRanksInFull;

const noSamples: number[] = [];
const sharedParts = new Map<string, object>();

/** Equal parts of a million rows are one object. */
function shared<Part extends object>(part: Part): Part {
  const text = JSON.stringify(part);
  const found = sharedParts.get(text);
  if (found === undefined && sharedParts.size < 1000) sharedParts.set(text, part);
  return (found as Part | undefined) ?? part;
}

/**
 * A row of a large matrix without what a million rows cannot hold, and only the run file has: its samples, their
 * standard deviation and the confidence interval.
 */
export function thin(row: Row): Row {
  const { labels, nanoseconds: times, gbps, lineGbps, busbwPercent, linePercent, path } = row;
  // One literal: objects that grow member by member take twice the memory.
  const thinned: Row = {
    kind: row.kind,
    column: row.column,
    bytes: row.bytes,
    count: row.count,
    outcome: row.outcome,
    noisy: row.noisy,
    labels: { memory: labels.memory, from: labels.from, to: labels.to },
    iterations: row.iterations,
    batch: row.batch,
    nanoseconds: times && {
      min: times.min,
      mean: times.mean,
      p50: times.p50,
      p95: times.p95,
      p99: times.p99,
      max: times.max,
      stddev: null,
      ci95: null,
    },
    samples: noSamples,
    gbps,
    lineGbps: lineGbps === gbps ? gbps : lineGbps,
    busbwPercent,
    linePercent: linePercent === busbwPercent ? busbwPercent : linePercent,
    ofBoundPercent: row.ofBoundPercent,
    halfRoundTripNanoseconds: row.halfRoundTripNanoseconds,
    resent: row.resent,
    path: path && shared(path),
    checked: shared(row.checked),
  };
  if (labels.rail !== undefined) thinned.labels.rail = labels.rail;
  if (labels.burst !== undefined) thinned.labels.burst = labels.burst;
  if (row.reason !== undefined) thinned.reason = row.reason;
  return thinned;
}

/** Ranks in a row and in a column of the blocks in which a large matrix is drawn: at most as many as one in full. */
export const blockOf = ({ ranks }: Pick<Run['world'], 'ranks'>): number =>
  Math.ceil(ranks / mostRanksInFull);

const slowestShown = 50;
const brokenShown = 100;

/** Of a run with a large matrix, the rows that a table has room for: what did not pass, and the slowest of each matrix. */
export function slowestRows({ rows }: Run): Row[] {
  const broken = rows.filter(({ outcome }) => outcome !== 'passed').slice(0, brokenShown);
  const passed = rows.filter(({ outcome, nanoseconds }) => outcome === 'passed' && nanoseconds);
  const timeOf = ({ nanoseconds }: Row) => nanoseconds!.p50;
  const matrices = groupBy(passed, ({ column, bytes, labels }) =>
    [column, bytes, labels.rail].join(' '),
  );
  return [
    ...broken,
    ...[...matrices.values()].flatMap((own) =>
      own.sort((a, b) => timeOf(b) - timeOf(a)).slice(0, slowestShown),
    ),
  ];
}

/**
 * The rows of a large matrix by rank, each over all its peers: what it sends (`from` alone) and what it receives (`to`
 * alone). A sample is the median time of one pair. Rows outside the matrix stay as they are.
 */
export function byRank(run: Run): Run {
  if (!isLarge(run.world)) return run;
  const [inside, others] = [run.rows.filter(isInMatrix), run.rows.filter((r) => !isInMatrix(r))];
  const ends = (['from', 'to'] as const).flatMap((end) => {
    const groups = groupBy(inside, ({ column, bytes, labels }) =>
      [column, bytes, labels.rail, labels[end]].join(' '),
    );
    return [...groups.values()].map((rows) => ofRank(rows, end));
  });
  return { ...run, rows: [...others, ...ends] };
}

function ofRank(rows: readonly Row[], end: 'from' | 'to'): Row {
  const bad = rows.find(({ outcome }) => outcome === 'failed' || outcome === 'aborted');
  const measured = rows.filter(({ outcome, nanoseconds }) => outcome === 'passed' && nanoseconds);
  const first = bad ?? measured[0] ?? rows[0]!;
  const { from: _, to: __, ...shape } = first.labels;
  const labels = { ...shape, [end]: first.labels[end] };
  if (bad || measured.length === 0) return { ...first, labels };
  const samples = measured.map(({ nanoseconds }) => Math.round(nanoseconds!.p50));
  const gbps = measured.flatMap((row) => row.gbps ?? []);
  return {
    ...first,
    labels,
    noisy: false,
    iterations: samples.length,
    batch: 1,
    samples,
    nanoseconds: summarize(samples),
    gbps: gbps.length === 0 ? null : median(gbps),
    checked: {
      bytes: measured.reduce((sum, { checked }) => sum + checked.bytes, 0),
      wrong: measured.reduce((sum, { checked }) => sum + checked.wrong, 0),
    },
  };
}
