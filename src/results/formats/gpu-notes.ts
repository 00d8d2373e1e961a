import { formatBytes, rangeText } from '../../measure/units.js';
import type { Labels, Row, Run } from '../schema.js';
import type { Note } from './notes.js';

/** What must be said below queue, proxy and IPC: who produced, over what path, and what two clocks know. */
export const gpuInitiated = (run: Run): Note[] => [
  ...producers(run),
  ...paths(run),
  ...losses(run),
  ...breakdowns(run),
  ...negativeSamples(run),
];

export const sizeOf = (row: Row): string =>
  row.bytes === null ? '' : ` ${formatBytes(row.bytes)}`;

/** Rows whose producers are CPU threads stand in for a GPU's, and must not be taken for them. */
function producers(run: Run): Note[] {
  const kinds = new Set(run.rows.map((row) => row.labels.producer).filter((one) => one));
  if (kinds.size === 0) return [];
  if (!kinds.has('cpu')) return [{ kind: 'plain', text: 'produced by GPU threads' }];
  return [{ kind: 'doubt', text: 'produced by CPU threads in the place of a GPU’s' }];
}

type Path = NonNullable<Labels['path']>;

const peakFrom: Record<Path, string> = {
  'same GPU': 'its memset in this run',
  NVLink: 'the rate of its links',
  PCIe: 'the rate of its links',
  'host memory': 'a memset by all cores in this run',
};

function paths(run: Run): Note[] {
  const row = run.rows.find(({ labels }) => labels.path !== undefined);
  if (!row?.labels.path) return [];
  const { path, memory } = row.labels;
  // A kernel that waits holds the GPU until its slice of time is over, and only then does a peer's copy run.
  if (memory === 'direct') {
    const text = 'ranks share a GPU: what waits in a kernel there takes turns with their copies';
    return [{ kind: 'doubt', text }];
  }
  return [{ kind: 'plain', text: `path: ${path}${peaks(run, path)}` }];
}

/** What was measured at each size, or is the same for all. */
function peaks({ rows }: Run, path: Path): string {
  const found = rows.flatMap(({ peakGbps }) => peakGbps ?? []);
  if (found.length === 0) return '';
  const above = rows.some(({ busbwPercent }) => (busbwPercent ?? 0) > 100);
  return `, peak ${rangeText(found, 1)} Gbps (${peakFrom[path]}${above ? '; what is above 100 % was faster than that' : ''})`;
}

/** The rates beside it are means over all rounds, and may say something else. */
const losses = ({ rows }: Run): Note[] =>
  rows.some((row) => row.lossPercent !== undefined)
    ? [{ kind: 'plain', text: 'Loss %: the median over rounds in which the columns took turns' }]
    : [];

/** Where a request's time went: at the smallest and the largest size of each column. */
function breakdowns(run: Run): Note[] {
  const broken = run.rows.filter((row) => row.breakdown && row.breakdown.stages.length > 0);
  const columns = [...new Set(broken.map((row) => row.column))];
  return columns.flatMap((column) => {
    const rows = broken.filter((row) => row.column === column);
    return [...new Set([rows[0]!, rows.at(-1)!])].map((row): Note => {
      const { stages, clockUncertaintyNanoseconds: doubt } = row.breakdown!;
      const us = (nanoseconds: number) => (nanoseconds / 1000).toFixed(2);
      const parts = stages.map(({ name, p50 }) => `${name} ${us(p50)} us`).join(', ');
      const clocks = doubt > 0 ? ` (clocks ± ${us(doubt)} us)` : '';
      return { kind: 'detail', text: `${column}${sizeOf(row)}: ${parts}${clocks}` };
    });
  });
}

function negativeSamples(run: Run): Note[] {
  return run.rows.flatMap(({ column, breakdown, samples }): Note[] => {
    const { negativeSamples: count, clockUncertaintyNanoseconds } = breakdown ?? {};
    if (!count) return [];
    const text =
      `${column}: ${count} of ${samples.length} samples came out below 0 and count as 0 ` +
      `(clocks ± ${clockUncertaintyNanoseconds!.toFixed(0)} ns)`;
    return [{ kind: 'doubt', text }];
  });
}
