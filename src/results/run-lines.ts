import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

export const limits = { fileBytes: 2 ** 36, lineBytes: 2 ** 26 } as const;

const pieceBytes = 2 ** 20;

type Take = (line: Buffer, end: number) => void;

/** Cuts what is read from a file, piece by piece, into lines. */
class LineCutter {
  piece: Buffer;
  /** Where the next piece begins. */
  at: number;
  readonly #size: number;
  readonly #take: Take;

  constructor(from: number, size: number, take: Take) {
    this.at = from;
    this.#size = size;
    this.#take = take;
    this.piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(1, size - from)));
  }

  /** Takes the whole lines in the first bytes of the piece. Whether there is more to read. */
  cut(bytesRead: number): boolean {
    const { at, piece } = this;
    const taken = takeLines(piece.subarray(0, bytesRead), (line, end) =>
      this.#take(line, at + end),
    );
    if (at + bytesRead >= this.#size || bytesRead === 0) return false;
    this.at += taken;
    if (taken > 0) return true;
    if (piece.length >= limits.lineBytes) throw new Error('not a run file: a line is too long');
    this.piece = Buffer.allocUnsafe(Math.min(limits.lineBytes, piece.length * 4));
    return true;
  }
}

/** Calls `take` with every whole line from byte `from` on, and with the byte after it. Holds one piece at a time. */
export async function eachLine(
  file: FileHandle,
  from: number,
  size: number,
  take: Take,
): Promise<void> {
  const lines = new LineCutter(from, size, take);
  for (let more = true; more; ) {
    const { bytesRead } = await file.read(lines.piece, 0, lines.piece.length, lines.at);
    more = lines.cut(bytesRead);
  }
}

/** The same for whoever has nothing else to do meanwhile. A line is valid until the next is asked for. */
export function* linesOf(fd: number, size: number): Generator<Buffer> {
  let some: Buffer[] = [];
  const lines = new LineCutter(0, size, (line) => some.push(line));
  for (let more = true; more; ) {
    more = lines.cut(readSync(fd, lines.piece, 0, lines.piece.length, lines.at));
    yield* some;
    some = [];
  }
}

function takeLines(bytes: Buffer, take: Take): number {
  let from = 0;
  for (let to = bytes.indexOf(0x0a); to !== -1; to = bytes.indexOf(0x0a, from)) {
    take(bytes.subarray(from, to), to + 1);
    from = to + 1;
  }
  return from;
}
