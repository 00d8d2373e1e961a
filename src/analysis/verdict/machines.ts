import { plural } from '../../measure/units.js';
import type { Machine } from '../../reference/machines.js';
import {
  isPublishedExchange,
  p5NicGbps,
  p5Shares,
  type Shares,
} from '../../reference/p5-shares.js';
import type { Row, Run } from '../../results/schema.js';
import type { Expected } from '../normal/normal.js';
import { type Expectation, judgeRow, limitsOf } from './expectations.js';
import type { Item } from './verdict.js';

/** Of the reference's share: what still passes, and what fails. */
const passShare = 0.95;
const failShare = 0.8;

/** Between two sizes, time grows in proportion to the size; beyond the last size the share stays. */
export function efficiencyAt(points: Shares['points'], bytes: number): number | undefined {
  const next = points.findIndex(([size]) => size >= bytes);
  if (next === -1) return points.at(-1)?.[1];
  const [after, before] = [points[next]!, points[next - 1]];
  if (after[0] === bytes) return after[1];
  if (!before) return undefined;
  const time = ([size, share]: readonly [number, number]) => size / share;
  const way = (bytes - before[0]) / (after[0] - before[0]);
  return bytes / (time(before) + way * (time(after) - time(before)));
}

/** Whether shares published for p5 hold for a run: NICs of the same rate and, in an exchange, the same world. */
const holdsPublished = (
  { nicGbps }: Machine,
  { benchmark, world, fabric }: Pick<Run, 'benchmark' | 'world' | 'fabric'>,
): boolean =>
  nicGbps === p5NicGbps &&
  (benchmark !== 'all2all' ||
    isPublishedExchange(world.hosts.length, world.ranks, fabric.channels.length));

/** Whether figures of a benchmark are published, so that its rows can be judged. */
const isPublished = (benchmark: string): boolean => p5Shares(benchmark, 'SingleDMA') !== undefined;

/** Whether only a model can say what a run should reach on such a machine. */
export const needsModel = (machine: Machine, run: Run): boolean =>
  isPublished(run.benchmark) && !holdsPublished(machine, run);

/**
 * Rows against what such a machine reaches; rows nothing is known about are passed over. `expected` has what a model says
 * of runs, by their ids.
 */
export function judgeByMachine(
  machine: Machine,
  runs: readonly Run[],
  expected: ReadonlyMap<string, Expected> = new Map(),
): Item[] {
  return runs.flatMap((run) => [
    ...lineRates(machine, run),
    ...missingNics(machine, run),
    ...run.rows.flatMap((row) => judgeByReference(machine, run, row, expected.get(run.id))),
  ]);
}

/** By the published share where it holds, else by what a model expects of this world. */
function judgeByReference(
  machine: Machine,
  run: Run,
  row: Row,
  expected: Expected | undefined,
): Item[] {
  const { benchmark } = run;
  const shares = p5Shares(benchmark, row.column);
  if (!shares || row.outcome !== 'passed' || row.bytes === null) return [];
  const share = efficiencyAt(shares.points, row.bytes);
  // The model was not compared with anything below the smallest published size.
  if (share === undefined) return [];
  const { metric } = shares;
  const known = holdsPublished(machine, run)
    ? { metric, value: share, of: 'the share published for p5.48xlarge' }
    : predictedFor(run, row, expected);
  if (known === undefined) return [];
  const limits = limitsOf(known.metric, known.value * passShare, known.value * failShare);
  const basis = `${100 * passShare} % of ${known.of}`;
  return [judgeRow(row, { benchmark, column: row.column, metric: known.metric, limits, basis })];
}

function predictedFor({ world, fabric }: Run, row: Row, expected: Expected | undefined) {
  if (expected === undefined || !('run' in expected)) return undefined;
  const { model, rows } = expected.run;
  const found = rows.find(({ column, bytes }) => column === row.column && bytes === row.bytes);
  if (found?.gbps == null) return undefined;
  const nodes = world.hosts.length;
  const metric: Expectation['metric'] = 'gbps';
  const of = `what the model ${model!.name} predicts for ${plural(nodes, 'node')} with ${plural(world.ranks / nodes, 'rank')} of ${plural(fabric.channels.length, 'NIC')} each`;
  return { metric, value: found.gbps, of };
}

function lineRates({ name, nicGbps }: Machine, { benchmark, fabric }: Run): Item[] {
  const wrong = fabric.channels.filter(
    ({ lineRateGbps }) => lineRateGbps !== null && lineRateGbps < nicGbps,
  );
  if (wrong.length === 0) return [];
  const nics = wrong.map(({ nic, lineRateGbps }) => `${nic ?? 'a channel'} ${lineRateGbps} Gbps`);
  return [
    {
      name: `${benchmark} link rates`,
      grade: 'fail',
      reason: `${name} has ${nicGbps} Gbps NICs, but these are slower: ${nics.join(', ')}.`,
      next: 'Check with weft info whether the link came up at a lower speed, or name the right machine.',
      metric: 'lineRateGbps',
      value: Math.min(...wrong.map((channel) => channel.lineRateGbps!)),
      expected: nicGbps,
    },
  ];
}

/** A rank with a GPU of its own has that GPU's NICs; a channel for each is expected. */
function missingNics({ name, nicsPerGpu }: Machine, { benchmark, fabric }: Run): Item[] {
  const expected = Math.ceil(nicsPerGpu);
  const found = fabric.channels.length;
  if (!/^efa\b/.test(fabric.provider ?? '') || found >= expected) return [];
  return [
    {
      name: `${benchmark} NICs`,
      grade: 'fail',
      reason: `On ${name} each GPU has ${expected} NICs, but a rank uses only ${found}.`,
      next: 'Check with weft info whether a device is missing, down or not visible in the container.',
      metric: 'channels',
      value: found,
      expected,
    },
  ];
}

/** Columns that were measured and have nothing to be held against, of benchmarks with published columns. */
export function columnsWithoutReference(runs: readonly Run[]): string[] {
  const unknown = runs.flatMap(({ benchmark, rows }) => {
    const measured = rows.filter((row) => row.outcome === 'passed').map((row) => row.column);
    const isKnown = (column: string) => p5Shares(benchmark, column) !== undefined;
    return isPublished(benchmark) ? measured.filter((column) => !isKnown(column)) : [];
  });
  return [...new Set(unknown)];
}

/** On any machine: what the largest size reaches of its plan's bound, where line rates are known. */
export function judgeByBound(runs: readonly Run[]): Item[] {
  const metric = 'ofBoundPercent';
  return runs.flatMap(({ benchmark, rows }) => {
    const known = rows.filter(
      (row) => row.outcome === 'passed' && row.ofBoundPercent !== null && !row.labels.burst,
    );
    const columns = [...new Set(known.map((row) => row.column))];
    return columns.map((column) => {
      const own = known.filter((row) => row.column === column);
      const largest = own.reduce((a, b) => (b.bytes! > a.bytes! ? b : a));
      return judgeRow(largest, { benchmark, column, metric, limits: anyMachine });
    });
  });
}

export const anyMachine = { pass: 80, fail: 50 };

export const describeMachine = (machine: Machine): string => {
  const { name, nicGbps } = machine;
  const known =
    nicGbps === p5NicGbps
      ? 'shares of the line rate as published for p5, and the model p5 for all2all of another world than theirs'
      : 'the model p5 with NICs of this rate';
  return `built-in figures for ${name}: ${nicGbps} Gbps NICs, ${known}, from 128K up`;
};
