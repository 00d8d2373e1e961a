import type { FileHandle } from 'node:fs/promises';

export const limits = { fileBytes: 2 ** 31, lineBytes: 2 ** 26 } as const;

const pieceBytes = 2 ** 20;

/** Calls `take` with every whole line from byte `from` on, and with the byte after it. Holds one piece at a time. */
export async function eachLine(
  file: FileHandle,
  from: number,
  size: number,
  take: (line: Buffer, end: number) => void,
): Promise<void> {
  let piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(1, size - from)));
  for (let at = from; ; ) {
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    const taken = takeLines(piece.subarray(0, bytesRead), (line, end) => take(line, at + end));
    if (at + bytesRead >= size || bytesRead === 0) return;
    at += taken;
    if (taken > 0) continue;
    if (piece.length >= limits.lineBytes) throw new Error('not a run file: a line is too long');
    piece = Buffer.allocUnsafe(Math.min(limits.lineBytes, piece.length * 4));
  }
}

function takeLines(bytes: Buffer, take: (line: Buffer, end: number) => void): number {
  let from = 0;
  for (let to = bytes.indexOf(0x0a); to !== -1; to = bytes.indexOf(0x0a, from)) {
    take(bytes.subarray(from, to), to + 1);
    from = to + 1;
  }
  return from;
}
