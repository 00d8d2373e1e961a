import { parseBytes } from '../../measure/units.js';
import type { Row, Run } from '../../results/schema.js';
import { judgeRow, limitsOf, type MetricName } from './expectations.js';
import type { Item } from './verdict.js';

/** A kind of machine whose fabric is known. Rates are the vendor's, per NIC. */
export interface Machine {
  readonly name: string;
  readonly nicGbps: number;
  readonly nicsPerGpu: number;
}

/** AWS's instances with EFA, by their public descriptions. */
export const machines: readonly Machine[] = [
  { name: 'p4d.24xlarge', nicGbps: 100, nicsPerGpu: 0.5 },
  { name: 'p5.48xlarge', nicGbps: 100, nicsPerGpu: 4 },
  { name: 'p5en.48xlarge', nicGbps: 200, nicsPerGpu: 2 },
  { name: 'p6-b200.48xlarge', nicGbps: 400, nicsPerGpu: 1 },
];

/** `p5` and `p5.48xlarge` are the same. */
export const machineByName = (name: string): Machine | undefined =>
  machines.find((machine) => machine.name === name || machine.name.split('.')[0] === name);

interface Reference {
  readonly metric: MetricName;
  readonly columns: Readonly<Record<string, Efficiencies>>;
  /** Columns whose shares are of the plan's bound: three targets cannot use four NICs. */
  readonly ofBound?: Readonly<Record<string, Efficiencies>>;
}

/** Per cent by size, the smallest first. */
type Efficiencies = Readonly<Record<string, number>>;

const writeSizes = ['256K', '512K', '1M', '2M', '4M', '8M', '16M', '32M', '64M', '1G'];
const atWriteSizes = (...shares: number[]): Efficiencies =>
  Object.fromEntries(shares.map((share, i) => [writeSizes[i]!, share]));

/**
 * Share of the line rate by size, as published for p5.48xlarge over EFA (Libefaxx's result tables: write and
 * all2all on 4 nodes, sendrecv on 2). The other machines are held to the same shares of their own rates.
 */
const reference: Readonly<Record<string, Reference>> = {
  write: {
    metric: 'busbwPercent',
    columns: {
      SinglePin: atWriteSizes(31.6, 48, 63.3, 77.3, 86.2, 91.4, 94, 95.8, 96.6, 97.7),
      SingleDMA: atWriteSizes(32.6, 47.9, 64.2, 78.2, 85.9, 91.1, 94, 95.6, 96.6, 97.7),
      MultiDMA: { '256K': 8.2, '4M': 57.8, '64M': 91.7, '1G': 95 },
    },
    ofBound: {
      RoundRobinDMA: { '256K': 30.1, '4M': 84.3, '64M': 94.9, '1G': 96.1 },
    },
  },
  sendrecv: {
    metric: 'busbwPercent',
    columns: {
      SinglePin: { '128K': 7.1, '1M': 26.8, '4M': 40.2, '16M': 45.9, '128M': 48.2 },
      SingleDMA: { '128K': 9.8, '1M': 30.6, '4M': 41.6, '16M': 46.2, '128M': 48.3 },
    },
  },
  all2all: {
    // Three peers: the published per-peer shares, times 3, are what the line carried.
    metric: 'linePercent',
    columns: {
      SinglePin: { '4M': 37.7, '32M': 36.6 },
      SingleDMA: { '4M': 37.6, '32M': 35.9 },
      MultiDMA: { '4M': 30.4, '32M': 36.4 },
      RoundRobinDMA: { '4M': 29.7, '32M': 31.7 },
    },
  },
};

/** Of the reference's share: what still passes, and what fails. */
const passShare = 0.95;
const failShare = 0.8;

/** Between two sizes the share is interpolated over the logarithm of the size; beyond the last it stays. */
export function efficiencyAt(shares: Efficiencies, bytes: number): number | undefined {
  const points = Object.entries(shares).map(([size, share]) => [parseBytes(size), share] as const);
  const next = points.findIndex(([size]) => size >= bytes);
  if (next === -1) return points.at(-1)?.[1];
  const [after, before] = [points[next]!, points[next - 1]];
  if (after[0] === bytes) return after[1];
  if (!before) return undefined;
  const way = Math.log(bytes / before[0]) / Math.log(after[0] / before[0]);
  return before[1] + way * (after[1] - before[1]);
}

/** Rows against what such a machine reaches; rows nothing is known about are passed over. */
export function judgeByMachine(machine: Machine, runs: readonly Run[]): Item[] {
  return runs.flatMap((run) => [
    ...lineRates(machine, run),
    ...missingNics(machine, run),
    ...run.rows.flatMap((row) => judgeByReference(run.benchmark, row)),
  ]);
}

function judgeByReference(benchmark: string, row: Row): Item[] {
  const known = reference[benchmark];
  const ofBound = known?.ofBound?.[row.column];
  const points = ofBound ?? known?.columns[row.column];
  if (!known || !points || row.outcome !== 'passed' || row.bytes === null) return [];
  const share = efficiencyAt(points, row.bytes);
  if (share === undefined) return [];
  const metric = ofBound ? 'ofBoundPercent' : known.metric;
  const limits = limitsOf(metric, share * passShare, share * failShare);
  return [judgeRow(row, { benchmark, column: row.column, metric, limits })];
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

/** Columns that were measured and have nothing to be held against. */
export function columnsWithoutReference(runs: readonly Run[]): string[] {
  const unknown = runs.flatMap(({ benchmark, rows }) => {
    const known = reference[benchmark];
    const columns = new Set(
      rows.filter((row) => row.outcome === 'passed').map((row) => row.column),
    );
    if (!known) return [];
    return [...columns].filter((one) => !known.columns[one] && !known.ofBound?.[one]);
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

export const describeMachine = ({ name, nicGbps }: Machine): string =>
  `built-in figures for ${name}: ${nicGbps} Gbps NICs, shares of the line rate as published for p5, from 128K up`;
