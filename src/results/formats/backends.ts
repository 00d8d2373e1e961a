import { formatBytes, formatBytesRounded, formatNanoseconds } from '../../measure/units.js';
import type { Row, Run } from '../schema.js';
import { describeRun, markOf, notesOf } from './notes.js';
import { alignedTable } from './plain-table.js';
import type { TableOptions } from './table.js';
import { painter, wrap } from './text.js';

/** Whether a run's rows are different libraries doing one thing, to be compared line by line. */
export const hasBackends = (run: Run): boolean => Array.isArray(run.settings.backends);

const heads = ['Backend', 'Mean ms', 'Median ms', 'Min ms', 'algbw GB/s', 'busbw GB/s', 'x best'];

/** One line per backend: its time, nccl-tests' figures, and its median over that of the fastest. */
export function formatBackends(run: Run, options: TableOptions = {}): string {
  const { width = 80, color = false, unicode = true } = options;
  const paint = painter(color);
  const measured = run.rows.filter((row) => row.nanoseconds !== null);
  const best = Math.min(...measured.map((row) => row.nanoseconds!.p50));
  const cells = measured.map((row) => cellsOf(row, best));
  const [head = '', ...rest] = alignedTable({ heads, lines: cells, left: [0] });
  const table = [
    paint('bold', head),
    (unicode ? '─' : '-').repeat(head.length),
    ...rest.map((line, i) => (measured[i]!.outcome === 'failed' ? paint('red', line) : line)),
  ];
  const wrapped = (text: string) => wrap(text, width);
  const about = [describeRun(run, unicode ? ' · ' : ' - '), ...traffic(run)].flatMap(wrapped);
  const notes = notesOf(run).flatMap(({ text }) => wrapped(text));
  const parts = measured.length === 0 ? [about, notes] : [about, table, notes];
  return `${parts.map((part) => part.join('\n')).join('\n\n')}\n`;
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
function traffic({ settings, world }: Run): string[] {
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
      : 'bound: not known without line rates (--line-rate)';
  const ranks = sends.slice(0, mostRanksShown).map((bytes, rank) => {
    const [out, into] = [bytes, receives[rank]!].map(formatBytesRounded);
    return `rank ${rank} sends ${out}, receives ${into}`;
  });
  const more = sends.length > ranks.length ? [`${world.ranks - ranks.length} ranks more`] : [];
  return [
    `${what}, ${dtype}, ${iterations} ${iterations === 1 ? 'exchange' : 'exchanges'} each; ${Object.values(versions ?? {}).join(', ')}`,
    ...(ranks.length === 0 ? [] : [`${[...ranks, ...more].join('; ')}; ${bound}`]),
    ...(ranks.length === 0 && typeof boundNanoseconds === 'number' ? [bound] : []),
  ];
}
