import { formatBytes, formatBytesRounded, formatNanoseconds, plural } from '../../measure/units.js';
import type { Row, Run } from '../schema.js';
import { markOf } from './notes.js';
import { alignedTable } from './plain-table.js';
import type { Paint } from './text.js';

/**
 * Whether a run's rows are different libraries doing one thing, to be compared line by line. Their rows are transfers,
 * as in every file ever written: only the settings say it.
 */
export const hasBackends = (run: Run): boolean => Array.isArray(run.settings.backends);

const heads = ['Backend', 'Mean ms', 'Median ms', 'Min ms', 'algbw GB/s', 'busbw GB/s', 'x best'];

/** One line per backend: its time, nccl-tests' figures, and its median over that of the fastest. */
export function backendTables(run: Run, paint: Paint, rule: string): string[][] {
  const measured = run.rows.filter((row) => row.nanoseconds !== null);
  if (measured.length === 0) return [];
  const best = Math.min(...measured.map((row) => row.nanoseconds!.p50));
  const cells = measured.map((row) => cellsOf(row, best));
  const [head = '', ...rest] = alignedTable({ heads, lines: cells, left: [0] });
  const lines = rest.map((line, i) =>
    measured[i]!.outcome === 'failed' ? paint('red', line) : line,
  );
  return [[paint('bold', head), rule.repeat(head.length), ...lines]];
}

function cellsOf(row: Row, best: number): string[] {
  const { mean, p50, min } = row.nanoseconds!;
  const ms = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(3);
  const figure = (value: number | undefined) => value?.toFixed(2) ?? '-';
  return [
    `${row.column}${markOf(row)}`,
    ...[mean, p50, min].map(ms),
    figure(row.algbwGBps),
    figure(row.busbwGBps),
    (p50 / best).toFixed(2),
  ];
}

const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number) : []);
const mostRanksShown = 8;

/** What was exchanged, what each rank sent and received where that differs, and the best the links allow. */
export function trafficOf({ settings, world }: Run): string[] {
  const { dtype, iterations, boundNanoseconds, versions } = settings;
  const sends = numbers(settings.sendBytes);
  const receives = numbers(settings.receiveBytes);
  const what =
    sends.length === 0
      ? `${formatBytes(Number(settings.msgBytes))} to every rank`
      : 'blocks of different sizes';
  const bound =
    typeof boundNanoseconds === 'number'
      ? `bound: ${formatNanoseconds(boundNanoseconds)}`
      : 'bound: unknown without line rates (set `lineRateGbps`)';
  const ranks = sends.slice(0, mostRanksShown).map((bytes, rank) => {
    const [out, into] = [bytes, receives[rank]!].map(formatBytesRounded);
    return `rank ${rank} sends ${out}, receives ${into}`;
  });
  const more = sends.length > ranks.length ? [`and ${world.ranks - ranks.length} more ranks`] : [];
  return [
    `${what}, ${dtype}, ${plural(Number(iterations), 'exchange')} each; ${Object.values(versions ?? {}).join(', ')}`,
    ...(ranks.length === 0 ? [] : [`${[...ranks, ...more].join('; ')}; ${bound}`]),
    ...(ranks.length === 0 && typeof boundNanoseconds === 'number' ? [bound] : []),
  ];
}
