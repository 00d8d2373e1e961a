import { formatBytesRounded, formatNanoseconds, plural, rangeText } from '../measure/units.js';
import { type Link, type Load, loadOfTraffic } from './bound.js';
import { boundLines } from './explain-bound.js';
import { orderLines } from './explain-order.js';
import { chunksOf, type Plan } from './plan.js';
import { startsOf } from './starts.js';
import type { Piece, Strategy } from './strategies.js';
import { type Block, partsWithin, type Traffic } from './traffic.js';
import { type Pacing, pacingOf, placePieces } from './write-plan.js';

interface ExplainOptions extends Pacing {
  readonly traffic: Traffic;
  readonly strategy: Strategy;
  readonly links: readonly Link[];
  readonly unicode?: boolean;
  /** The plan of each rank, where its order is to be shown. */
  planOf?(rank: number): Plan;
  /** The traffic bounds none of the times that are measured. */
  readonly unbounded?: boolean;
}

/** More senders than this, or blocks of one sender, are counted instead of drawn. */
const maxSenders = 4;
const maxBlocks = 6;
const barWidth = 24;

const unicodeInk = {
  dot: '·',
  line: '─',
  arrow: '▶',
  fork: { only: '───', first: '─┬─', middle: ' ├─', last: ' └─' },
  more: '⋮',
  bar: '█',
};
type Ink = typeof unicodeInk;

const asciiInk: Ink = {
  dot: '-',
  line: '-',
  arrow: '>',
  fork: { only: '---', first: '-+-', middle: ' |-', last: " '-" },
  more: ':',
  bar: '#',
};

/** Whole up to a million, then rounded, so that a line keeps its width. */
const chunksText = (chunks: number): string =>
  chunks < 1e6 ? plural(chunks, 'chunk') : `${Math.round(chunks / 1e6)}M chunks`;

/** Who sends what to whom on which channel, and the best time that allows; lines of at most 80 columns. */
export function explain(options: ExplainOptions): string {
  const { traffic, strategy, links, unicode = true } = options;
  const ink = unicode ? unicodeInk : asciiInk;
  const load = loadOfTraffic(traffic, strategy, links.length);
  const planOf = traffic.sequential ? undefined : options.planOf;
  const sections = [
    titleLines(options, ink),
    diagramLines(options, ink),
    planOf ? orderLines(traffic.world, (rank) => planOf(rank), ink.more) : [],
    loadLines(load, ink),
    [
      ...startLines(traffic),
      ...arrivalLines(options),
      ...sumLines(traffic),
      ...boundLines(options),
    ],
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function titleLines({ traffic, strategy, links, ...pacing }: ExplainOptions, ink: Ink): string[] {
  const { chunkBytes, window } = pacingOf(pacing);
  const size = [plural(traffic.world, 'rank'), plural(links.length, 'channel')].join(
    ` ${ink.dot} `,
  );
  return [
    `${traffic.title} ${ink.dot} ${strategy.title}: ${strategy.summary}`,
    `${size} ${ink.dot} chunks of ${formatBytesRounded(chunkBytes)}, at most ${window} in flight per channel`,
  ];
}

function diagramLines(options: ExplainOptions, ink: Ink): string[] {
  const { traffic } = options;
  const senders = ranksWith(traffic, (rank) => traffic.outgoing(rank).length);
  // One more is drawn rather than elided alone.
  const shown = senders.length <= maxSenders ? senders : senders.slice(0, maxSenders - 1);
  const lines = alignColumns(shown.flatMap((rank) => senderRows(rank, options, ink)));
  const left = senders.length - shown.length;
  if (senders.length === 0) lines.push('nothing is sent');
  if (left > 0) lines.push(`${ink.more} ${left} more ranks send in the same way`);
  if (traffic.sequential) lines.push('each message starts when the one before it has arrived');
  return lines.map((line) => `  ${line}`);
}

const ranksWith = (traffic: Traffic, count: (rank: number) => number): number[] =>
  Array.from({ length: traffic.world }, (_, rank) => rank).filter((rank) => count(rank) > 0);

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  // The last cell of a row may be as long as it likes.
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join(' ')
      .trimEnd(),
  );
}

function senderRows(rank: number, options: ExplainOptions, ink: Ink): string[][] {
  const blocks = options.traffic.outgoing(rank);
  const shown = blocks.length <= maxBlocks ? blocks : blocks.slice(0, maxBlocks - 1);
  const left = blocks.length - shown.length;
  const rows = shown.map((block) => blockCells(block, options, ink));
  if (left > 0) rows.push([`${ink.more} ${left} more blocks`]);
  return rows.map((cells, i) => {
    const { only, first, middle, last } = ink.fork;
    const end = i === rows.length - 1 ? last : middle;
    return [
      i === 0 ? `rank ${rank}` : '',
      rows.length === 1 ? only : i === 0 ? first : end,
      ...cells,
    ];
  });
}

function blockCells(block: Block, options: ExplainOptions, ink: Ink): string[] {
  const { chunkBytes } = pacingOf(options);
  const pieces = placePieces(block, options.strategy, options.links.length);
  const chunks = chunksIn(block, pieces, chunkBytes);
  const range = (values: number[]): string => {
    const [first, last] = [Math.min(...values), Math.max(...values)];
    return first === last ? String(first) : `${first}-${last}`;
  };
  const wire = [
    formatBytesRounded(block.bytes),
    `${ink.line} ch${range(pieces.map((piece) => piece.channel))}`,
    `${ink.line}${ink.arrow} rank ${block.target} `,
  ];
  if (options.traffic.sequential) return [...wire, chunksText(chunks)];
  const named = `slot${pieces.length === 1 ? '' : 's'} ${range(pieces.map((piece) => piece.slot))} `;
  const slots = options.traffic.readable ? 'read ' : named;
  const place = block.parts
    ? `in ${plural(block.parts.length, 'part')} `
    : `at +${formatBytesRounded(block.targetOffset)} `;
  const start = block.notBefore ? `, after ${formatNanoseconds(block.notBefore)}` : '';
  return [...wire, slots, place, `${chunksText(chunks)}${start}`];
}

const chunksIn = (block: Block, pieces: readonly Piece[], chunkBytes: number): number =>
  pieces.reduce(
    (sum, { offset, bytes }) =>
      sum +
      chunksOf({ bytes, parts: block.parts && partsWithin(block, offset, bytes) }, chunkBytes),
    0,
  );

/** For each channel, the rank that sends most over it and the rank that receives most. */
function loadLines(load: Load, ink: Ink): string[] {
  const { places: world, channels } = load;
  const most = (cells: Float64Array, channel: number): number => {
    let largest = 0;
    for (let rank = 0; rank < world; rank++) {
      largest = Math.max(largest, cells[rank * channels + channel]!);
    }
    return largest;
  };
  const rows = Array.from({ length: channels }, (_, channel) => ({
    channel,
    out: most(load.out, channel),
    into: most(load.in, channel),
  }));
  const largest = Math.max(...rows.flatMap(({ out, into }) => [out, into]));
  const bar = (bytes: number): string =>
    ink.bar.repeat(largest === 0 ? 0 : Math.ceil((bytes / largest) * barWidth));
  const cell = (bytes: number) => formatBytesRounded(bytes).padStart(7);
  return [
    '  channel      out       in   busiest rank of each channel',
    ...rows.map(({ channel, out, into }) =>
      `  ${String(channel).padStart(7)}  ${cell(out)}  ${cell(into)}   ${bar(Math.max(out, into))}`.trimEnd(),
    ),
  ];
}

function arrivalLines(options: ExplainOptions): string[] {
  const { traffic, strategy, links } = options;
  if (traffic.sequential)
    return ['  arrivals  not counted: the reply shows that the message arrived'];
  if (traffic.readable)
    return ['  arrivals  not counted: a read completes when its bytes have arrived'];
  const { chunkBytes } = pacingOf(options);
  const known = new Map<number, number>();
  const chunks = (block: Block): number => {
    const pieces = () => strategy.split(block.bytes, links.length, block.unitBytes);
    if (block.parts) return chunksIn(block, pieces(), chunkBytes);
    let count = known.get(block.bytes);
    if (count === undefined) {
      count = chunksIn(block, pieces(), chunkBytes);
      known.set(block.bytes, count);
    }
    return count;
  };
  const counts = ranksWith(traffic, (rank) => traffic.incoming(rank).length).map((rank) =>
    traffic.incoming(rank).reduce((sum, block) => sum + chunks(block), 0),
  );
  if (counts.length === 0) return ['  arrivals  none'];
  const each = rangeText(counts, 0);
  const what = each === '1' ? 'immediate' : 'immediates';
  const where = counts.length === 1 ? 'one rank' : `each of ${counts.length} ranks`;
  return [`  arrivals  ${each} ${what} on ${where}`];
}

/** What ranks add up, where they do. */
function sumLines({ numbers, contents, world }: Traffic): string[] {
  if (!numbers || !contents) return [];
  const bytes = Array.from({ length: world }, (_, rank) =>
    contents(rank).reduce((sum, one) => sum + ('sumOf' in one ? one.bytes : 0), 0),
  ).filter((sum) => sum > 0);
  if (bytes.length === 0) return [];
  const most = formatBytesRounded(Math.max(...bytes));
  const where = bytes.length === 1 ? 'one rank' : `each of ${bytes.length} ranks`;
  const upTo = bytes.every((one) => one === bytes[0]) ? '' : 'up to ';
  return [`  sums      ${upTo}${most} of ${numbers.dtype} on ${where}`];
}

function startLines(traffic: Traffic): string[] {
  const starts = startsOf(traffic);
  if (starts.length === 0) return [];
  return [`  starts    from 0 to ${formatNanoseconds(starts.at(-1)!)} into the iteration`];
}
