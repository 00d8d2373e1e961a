import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

export const limits = { fileBytes: 2 ** 36, lineBytes: 2 ** 26 } as const;

/** What every reader says of a line that is longer than it may hold in memory. */
export const tooLongText = `longer than ${limits.lineBytes / 2 ** 20} MiB`;

const pieceBytes = 2 ** 20;
const newline = 0x0a;

/** Lines of a file that belong together: one that says something, or blank ones, or one that is too long to hold. */
export interface Cut {
  readonly kind: 'line' | 'blank' | 'too long';
  /** Of a line, without its end; valid until the next is asked for. */
  readonly bytes: Buffer;
  /** The byte after it. */
  readonly end: number;
  /** How many lines it is: blank ones come together. */
  readonly lines: number;
}

const nothing = Buffer.alloc(0);

/** A line of a run file that says nothing, and that every reader passes over. */
export const isBlank = (line: string): boolean => /^[ \t\r]*$/.test(line);

function isBlankBetween(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

/** Cuts what is read from a file, piece by piece, into lines. */
class LineCutter {
  piece: Buffer;
  /** Where the next piece begins. */
  at: number;
  /** Whether there is more to read. */
  more = true;
  readonly #size: number;
  /** In the middle of a line that is too long. */
  #passing = false;

  constructor(from: number, size: number) {
    this.at = from;
    this.#size = size;
    this.piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(1, size - from)));
  }

  /** The whole lines in the first bytes of the piece. */
  *cut(bytesRead: number): Generator<Cut> {
    const { at } = this;
    const bytes = this.piece.subarray(0, bytesRead);
    let from = 0;
    if (this.#passing) {
      from = bytes.indexOf(newline) + 1;
      this.#passing = from === 0;
      if (!this.#passing) yield { kind: 'too long', bytes: nothing, end: at + from, lines: 1 };
    }
    if (!this.#passing) from += yield* linesIn(bytes.subarray(from), at + from);
    this.more = at + bytesRead < this.#size && bytesRead > 0;
    if (this.more) this.#goOn(from, bytesRead);
  }

  #goOn(taken: number, bytesRead: number): void {
    if (this.#passing || (taken === 0 && this.piece.length >= limits.lineBytes)) {
      this.#passing = true;
      this.at += bytesRead;
      if (this.piece.length > pieceBytes) this.piece = Buffer.allocUnsafe(pieceBytes);
    } else if (taken > 0) this.at += taken;
    else this.piece = Buffer.allocUnsafe(Math.min(limits.lineBytes, this.piece.length * 4));
  }
}

/** Returns how many bytes the whole lines took. */
function* linesIn(bytes: Buffer, at: number): Generator<Cut, number> {
  let from = 0;
  let blank = 0;
  const blanks = (): Cut => ({ kind: 'blank', bytes: nothing, end: at + from, lines: blank });
  for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
    if (isBlankBetween(bytes, from, to)) {
      blank++;
      from = to + 1;
      continue;
    }
    if (blank > 0) yield blanks();
    blank = 0;
    yield { kind: 'line', bytes: bytes.subarray(from, to), end: at + to + 1, lines: 1 };
    from = to + 1;
  }
  if (blank > 0) yield blanks();
  return from;
}

/** Calls `take` with every whole line from byte `from` on. Holds one piece at a time. */
export async function eachLine(
  file: FileHandle,
  from: number,
  size: number,
  take: (cut: Cut) => void,
): Promise<void> {
  const lines = new LineCutter(from, size);
  while (lines.more) {
    const { bytesRead } = await file.read(lines.piece, 0, lines.piece.length, lines.at);
    for (const cut of lines.cut(bytesRead)) take(cut);
  }
}

/** The same for whoever has nothing else to do meanwhile. */
export function* linesOf(fd: number, size: number): Generator<Cut> {
  const lines = new LineCutter(0, size);
  while (lines.more) yield* lines.cut(readSync(fd, lines.piece, 0, lines.piece.length, lines.at));
}
