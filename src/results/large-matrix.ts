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

/** A row of a large matrix without what a million rows cannot hold: its samples, which the run file has. */
export function thin(row: Row): Row {
  const { gbps, busbwPercent } = row;
  const thinned = {
    ...row,
    samples: noSamples,
    lineGbps: row.lineGbps === gbps ? gbps : row.lineGbps,
    linePercent: row.linePercent === busbwPercent ? busbwPercent : row.linePercent,
    checked: shared(row.checked),
  };
  if (row.path) thinned.path = shared(row.path);
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
