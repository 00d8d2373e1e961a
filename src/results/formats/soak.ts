import {
  figuresOf,
  type IntervalFigures,
  isSoakRow,
  type SoakRow,
  type SoakVerdict,
} from '../../analysis/soak/verdict.js';
import { clockText, lastsDays, soakHeadline, soakTroubles } from '../../analysis/soak/words.js';
import {
  formatDecimalBytes,
  formatDuration,
  formatNanoseconds,
  plural,
} from '../../measure/units.js';
import { gbpsText } from '../row-figures.js';
import { rowsByKey } from '../row-key.js';
import { nameOfRow } from '../row-name.js';
import type { Run } from '../schema.js';
import { describeRun, notesOf } from './notes.js';
import { alignedTable } from './plain-table.js';
import type { TableOptions } from './table.js';
import { painter, wrap } from './text.js';

const mostTroubles = 6;
const mostNics = 6;

/** The verdict on a soak: its first, last and worst interval, what was found, and what the counters say. */
export function formatSoak(run: Run, verdict: SoakVerdict, options: TableOptions = {}): string {
  const { width = 80, color = false, unicode = true, verbose = false } = options;
  const paint = painter(color);
  const withDay = lastsDays(verdict);
  const troubles = soakTroubles(verdict);
  const shown = troubles.slice(0, verbose ? troubles.length : mostTroubles);
  const rest = troubles.length - shown.length;
  const notes = notesOf(run).filter(
    ({ kind, about }) => kind === 'bad' || about === 'verified' || verbose,
  );
  const parts = [
    headOf(run, verdict, unicode)
      .flatMap((line) => wrap(line, width))
      .map((line) => paint('bold', line)),
    intervalTable(run, withDay),
    wrap(soakHeadline(verdict), width).map((line) =>
      verdict.verdict === 'steady' ? line : paint('red', line),
    ),
    [...shown, ...(rest > 0 ? [`(--verbose shows ${rest} more)`] : [])]
      .flatMap((text) => wrap(text, width))
      .map((line) => paint('yellow', line)),
    [...counterLines(verdict), ...notes.map(({ text }) => text)]
      .flatMap((text) => wrap(text, width))
      .map((line) => paint('dim', line)),
  ];
  const filled = parts.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function headOf(run: Run, verdict: SoakVerdict, unicode: boolean): string[] {
  const { startedAt, endedAt, intervals } = verdict;
  const seconds = Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000);
  const times = `${clockText(startedAt, true)} to ${clockText(endedAt, lastsDays(verdict))}`;
  return [
    `soak of ${describeRun(run, unicode ? ' · ' : ' - ')}`,
    `${times}: ${formatDuration(seconds * 1000)}, ${plural(intervals, 'interval')}`,
  ];
}

function intervalTable(run: Run, withDay: boolean): string[] {
  const heads = ['', 'interval', 'start', 'Gbps', 'min', 'p50', 'p99', 'p99.9', 'max', 'stalls'];
  const lines = [...rowsByKey(run.rows.filter(isSoakRow)).values()].flatMap((group) => {
    const rows = group as SoakRow[];
    const worst = rows.reduce((a, b) => (b.nanoseconds!.mean > a.nanoseconds!.mean ? b : a));
    return [...new Set([rows[0]!, rows.at(-1)!, worst])].map((row) => [
      nameOfRow(row),
      `${placesOf(row, rows, worst)} (${(row.repeat ?? 0) + 1})`,
      clockText(row.soak.startedAt, withDay),
      ...figureTexts(figuresOf(row)),
      String(row.soak.stallCount),
    ]);
  });
  return lines.length === 0 ? [] : alignedTable({ heads, lines, left: [0, 1] });
}

/** `first, worst`: an interval may be several things. */
function placesOf(row: SoakRow, rows: readonly SoakRow[], worst: SoakRow): string {
  const names = [
    ...(row === rows[0] ? ['first'] : []),
    ...(row === rows.at(-1) ? ['last'] : []),
    ...(row === worst ? ['worst'] : []),
  ];
  return rows.length === 1 ? 'only' : names.join(', ');
}

const figureTexts = ({ gbps, min, p50, p99, p999, max }: IntervalFigures): string[] => [
  gbpsText(gbps),
  ...[min, p50, p99, p999, max].map(formatNanoseconds),
];

/** All NICs together, and each that lost or repeated something. */
function counterLines({ nics, counters, tcpRetransmits }: SoakVerdict): string[] {
  if (counters.nics === 0) return [];
  const resent = tcpRetransmits + counters.retransmits;
  const sent = formatDecimalBytes(counters.txBytes);
  const all = `counters of ${plural(counters.nics, 'NIC')}: ${sent} sent, ${lossText(resent, counters.drops)}`;
  const telling = nics.filter(({ drops, retransmits }) => drops + retransmits > 0);
  return [
    all,
    ...telling
      .slice(0, mostNics)
      .map(
        ({ host, nic, drops, retransmits }) => `${nic} on ${host}: ${lossText(retransmits, drops)}`,
      ),
  ];
}

const lossText = (retransmits: number, drops: number): string =>
  `${plural(retransmits, 'retransmission')}, ${plural(drops, 'dropped packet')}`;
