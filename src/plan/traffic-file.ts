import { messageOf, WeftError } from '../errors.js';
import { parseBytes } from '../measure/units.js';
import { parseMatrix } from './byte-matrix.js';
import type { TracedTransfer } from './patterns/trace.js';
import { maxWorld } from './plan.js';
import { linesOf, Mistake, objectOf, readLines } from './text-lines.js';

/** What a traffic file describes: transfers of one iteration, in the order of the file. */
export interface TrafficFile {
  /** Ranks that it needs. */
  readonly world: number;
  readonly transfers: readonly TracedTransfer[];
}

const listHead = 'from,to,bytes';
const keys = ['at', 'from', 'to', 'bytes', 'id', 'after'];
const formats = `Write a matrix of bytes, a CSV list that begins with ${listHead}, or JSON lines. See docs/traffic-files.md.`;

/**
 * Reads a byte matrix, a CSV list of transfers, or a trace of JSON lines. Which one it is shows in its first line.
 * Throws BAD_USAGE with the path and the line.
 */
export function parseTrafficFile(text: string, path: string): TrafficFile {
  const lines = linesOf(text);
  const first = lines[0]?.text ?? '';
  const transfers = first.startsWith('{')
    ? readLines(lines, path, formats, traceReader())
    : headOf(first) === listHead
      ? readLines(lines.slice(1), path, formats, listEntry)
      : matrixEntries(text, path);
  if (transfers.length === 0) {
    throw new WeftError('BAD_USAGE', `${path}: there are no transfers`, { hint: formats });
  }
  const named = transfers.flatMap(({ from, to }) => [from, to]);
  const world = 1 + named.reduce((most, rank) => Math.max(most, rank), 0);
  return { world, transfers };
}

const headOf = (line: string): string => line.toLowerCase().replaceAll(/\s/g, '');

/** What a rank keeps is not sent, and neither is nothing. */
const matrixEntries = (text: string, path: string): TracedTransfer[] =>
  parseMatrix(text, path).flatMap((row, from) =>
    row.flatMap((bytes, to) => (bytes === 0 || from === to ? [] : [{ from, to, bytes }])),
  );

function listEntry(text: string): TracedTransfer {
  const cells = text.split(',').map((cell) => cell.trim());
  if (cells.length !== 3)
    throw new Mistake(`there are ${cells.length} values, not 3 (${listHead})`);
  return transferOf(cells[0], cells[1], cells[2]);
}

function transferOf(from: unknown, to: unknown, bytes: unknown): TracedTransfer {
  const transfer = { from: rankOf('from', from), to: rankOf('to', to), bytes: bytesOf(bytes) };
  if (transfer.from === transfer.to) throw new Mistake(`rank ${transfer.from} sends to itself`);
  return transfer;
}

function rankOf(key: string, value: unknown): number {
  const rank = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof rank === 'number' && Number.isInteger(rank) && rank >= 0 && rank < maxWorld) {
    return rank;
  }
  throw new Mistake(`${key} is ${JSON.stringify(value)}, not a rank`);
}

function bytesOf(value: unknown): number {
  try {
    return parseBytes(typeof value === 'number' ? String(value) : (value as string));
  } catch (cause) {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new Mistake(`bytes is ${JSON.stringify(value)}, not a number of bytes`);
    }
    throw new Mistake(`bytes: ${messageOf(cause)}`);
  }
}

/** Remembers the ids of the lines before. */
function traceReader(): (text: string, index: number) => TracedTransfer {
  const known = new Map<string, number>();
  const all: TracedTransfer[] = [];
  return (text, index) => {
    const entry = entryOf(text);
    const transfer = {
      ...transferOf(entry.from, entry.to, entry.bytes),
      ...(entry.at !== undefined && { notBefore: 1000 * microsecondsOf(entry.at) }),
      ...(entry.after !== undefined && { after: afterOf(entry.after, known) }),
    };
    for (const earlier of transfer.after ?? []) refuseUnknowable(transfer, all[earlier]!);
    if (entry.id !== undefined) {
      const id = idOf(entry.id);
      if (known.has(id)) throw new Mistake(`id ${id} is already used in an earlier line`);
      known.set(id, index);
    }
    all.push(transfer);
    return transfer;
  };
}

function entryOf(text: string): Readonly<Record<string, unknown>> {
  const value = objectOf(text);
  const strange = Object.keys(value).find((key) => !keys.includes(key));
  if (strange === undefined) return value;
  throw new Mistake(`"${strange}" is not a key of a transfer; the keys are ${keys.join(', ')}`);
}

function microsecondsOf(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new Mistake(`at is ${JSON.stringify(value)}, not a time in microseconds, 0 or more`);
}

function idOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value);
  throw new Mistake(`${JSON.stringify(value)} is not an id: use text or a number`);
}

const afterOf = (value: unknown, known: ReadonlyMap<string, number>): number[] =>
  (Array.isArray(value) ? value : [value]).map((one) => {
    const id = idOf(one);
    const index = known.get(id);
    if (index === undefined)
      throw new Mistake(`after names ${id}, but no earlier line has this id`);
    return index;
  });

/** A rank knows of a transfer only when it sends or receives it. */
function refuseUnknowable({ from }: TracedTransfer, earlier: TracedTransfer): void {
  if (earlier.from === from || earlier.to === from) return;
  throw new Mistake(
    `rank ${from} cannot know when the transfer from rank ${earlier.from} to rank ${earlier.to} is complete; ` +
      'after may name only transfers that the sender itself sent or received',
  );
}
