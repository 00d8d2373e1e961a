import { groupBy } from '../measure/group.js';
import { formatBytes, rangeText } from '../measure/units.js';
import type { Note } from './note.js';
import { copyFigures, type Figure, messageFigures, transferFigures } from './row-figures.js';
import { sizedName } from './row-name.js';
import type { Labels, Row, Run } from './schema.js';
import { workloadFigures, workloadKeys } from './workload-figures.js';

/**
 * Everything that is particular to a kind of row; all formats, the report and the live page read it from here. A new
 * kind is one entry in the table below. Charts or a headline of its own are a second one, in report/report-kinds.ts,
 * since results may not import the report. What tells rows apart are their labels, whatever the kind: see row-key.ts.
 */
interface RowKind {
  /** `grid`: sizes down, columns across. `matrix`: from rank down, to rank across. */
  readonly layout: 'grid' | 'matrix';
  /** What a column of a table shows of these rows. */
  readonly figures: (rows: readonly Row[]) => readonly Figure[];
  /** What must be said below these rows, besides what is said of all. */
  readonly notes: (rows: readonly Row[]) => readonly Note[];
}

const known = {
  transfer: {
    layout: 'grid',
    figures: transferFigures,
    notes: (rows) => [
      ...producerNotes(rows),
      ...pathNotes(rows),
      ...lossNotes(rows),
      ...stageNotes(rows),
      ...workloadNotes(rows),
      ...algorithmNotes(rows),
    ],
  },
  queue: {
    layout: 'grid',
    figures: () => messageFigures,
    notes: (rows) => [...producerNotes(rows), ...stageNotes(rows), ...negativeNotes(rows)],
  },
  ipc: {
    layout: 'grid',
    figures: () => copyFigures,
    notes: (rows) => [...producerNotes(rows), ...pathNotes(rows)],
  },
  pair: { layout: 'matrix', figures: transferFigures, notes: () => [] },
} satisfies Record<string, RowKind>;

export type RowKindName = keyof typeof known;
export const rowKinds = new Map<string, RowKind>(Object.entries(known));

/** Rows of a kind that came later are shown as transfers are. */
export const kindOf = (row: Pick<Row, 'kind'> | undefined): RowKind =>
  rowKinds.get(row?.kind ?? '') ?? known.transfer;

export const isInMatrix = (row: Pick<Row, 'kind'>): boolean => kindOf(row).layout === 'matrix';

/** Of all kinds in a run, in the order of their rows. */
export const notesOfKinds = ({ rows }: Run): Note[] =>
  [...new Set(rows.map(kindOf))].flatMap((kind) =>
    kind.notes(rows.filter((row) => kindOf(row) === kind)),
  );

type Rows = readonly Row[];

/** Rows whose producers are CPU threads must not pass for a GPU's. */
function producerNotes(rows: Rows): Note[] {
  const producers = new Set(rows.flatMap(({ labels }) => labels.producer ?? []));
  if (producers.size === 0) return [];
  if (!producers.has('cpu')) return [{ kind: 'plain', text: 'GPU threads issue the requests' }];
  const text = 'CPU threads issue the requests in place of a GPU: these are not GPU numbers';
  return [{ kind: 'doubt', text }];
}

type Path = NonNullable<Labels['path']>;

const peakFrom: Record<Path, string> = {
  'same GPU': 'measured with a memset on that GPU',
  NVLink: 'the rate of its links',
  PCIe: 'the rate of its links',
  'host memory': 'measured with a memset on all cores',
};

function pathNotes(rows: Rows): Note[] {
  const row = rows.find(({ labels }) => labels.path !== undefined);
  if (!row?.labels.path) return [];
  const { path, memory } = row.labels;
  // A kernel that waits holds the GPU until its slice of time is over, and only then does a peer's copy run.
  if (memory === 'direct') {
    const text = 'ranks share a GPU: a kernel that waits there delays the copies of the others';
    return [{ kind: 'doubt', text }];
  }
  return [{ kind: 'plain', text: `path: ${path}${peaks(rows, path)}` }];
}

function peaks(rows: Rows, path: Path): string {
  const found = rows.flatMap(({ peakGbps }) => peakGbps ?? []);
  if (found.length === 0) return '';
  const above = rows.some(({ busbwPercent }) => (busbwPercent ?? 0) > 100);
  const faster = above ? '; rows above 100 % were faster than that' : '';
  return `, peak ${rangeText(found, 1)} Gbps (${peakFrom[path]}${faster})`;
}

/** The rates beside it are means over all rounds, and may say something else. */
const lossNotes = (rows: Rows): Note[] =>
  rows.some((row) => row.lossPercent !== undefined)
    ? [{ kind: 'plain', text: 'Loss %: median over rounds in which the columns take turns' }]
    : [];

/** Where the time of a request went: at the smallest and the largest size of each column. */
function stageNotes(rows: Rows): Note[] {
  const staged = rows.filter((row) => row.breakdown && row.breakdown.stages.length > 0);
  const columns = [...new Set(staged.map((row) => row.column))];
  return columns.flatMap((column) => {
    const own = staged.filter((row) => row.column === column);
    return [...new Set([own[0]!, own.at(-1)!])].map((row): Note => {
      const { stages, clockUncertaintyNanoseconds: doubt } = row.breakdown!;
      const us = (nanoseconds: number) => (nanoseconds / 1000).toFixed(2);
      const parts = stages.map(({ name, p50 }) => `${name} ${us(p50)} us`).join(', ');
      const clocks = doubt > 0 ? ` (clocks ± ${us(doubt)} us)` : '';
      return { kind: 'detail', text: `${sizedName(row)}: ${parts}${clocks}` };
    });
  });
}

/** What the figures say that only some benchmarks have. */
const workloadNotes = (rows: Rows): Note[] =>
  workloadKeys
    .filter((key) => rows.some((row) => row[key] !== undefined))
    .map((key) => {
      const { name, unit, meaning } = workloadFigures[key];
      return { kind: 'detail', text: `${name} ${unit}: ${meaning}` };
    });

/** Which algorithm ran, size by size where it depends on the size. */
function algorithmNotes(rows: Rows): Note[] {
  const known = rows.filter((row) => row.algorithm !== undefined);
  const sizes = [...groupBy(known, (row) => row.algorithm!)].map(([algorithm, own]) => ({
    algorithm,
    bytes: [...new Set(own.flatMap(({ bytes }) => bytes ?? []))],
  }));
  if (sizes.length === 0) return [];
  const text =
    sizes.length === 1
      ? sizes[0]!.algorithm
      : sizes
          .map((one) => `${one.algorithm} for ${one.bytes.map(formatBytes).join(', ')}`)
          .join('; ');
  return [{ kind: 'detail', text: `algorithm: ${text}` }];
}

const negativeNotes = (rows: Rows): Note[] =>
  rows.flatMap(({ column, breakdown, samples }): Note[] => {
    const { negativeSamples: count, clockUncertaintyNanoseconds } = breakdown ?? {};
    if (!count) return [];
    const text =
      `${column}: ${count} of ${samples.length} samples came out below 0 and count as 0 ` +
      `(clocks ± ${clockUncertaintyNanoseconds!.toFixed(0)} ns)`;
    return [{ kind: 'doubt', text }];
  });
