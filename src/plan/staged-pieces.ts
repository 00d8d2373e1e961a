import { type Piece, pieceAlignment } from './strategies.js';

/** A step is cut into at most so many pieces, so that the slots of a long transfer stay few. */
export const mostStagedPieces = 64;

/**
 * Cuts a write of `bytes`. Both sides know its length and derive the same pieces, each on a cache line of its own;
 * only an empty write has an empty piece.
 */
export const stagedPieces = (bytes: number, pieceBytes: number): Piece[] =>
  cut(bytes, pieceSize(bytes, pieceBytes));

export const pieceSize = (bytes: number, pieceBytes: number): number =>
  Math.ceil(Math.max(pieceBytes, bytes / mostStagedPieces) / pieceAlignment) * pieceAlignment;

/** One of the pieces of a step: a stretch of it, or some of its parts. */
export interface StagedPiece extends Piece {
  readonly parts?: { readonly from: number; readonly to: number };
}

/** Runs of parts that are pieces together; both sides know the parts' lengths and derive the same. */
export function partPieces(
  parts: readonly { readonly bytes: number }[],
  each: number,
): StagedPiece[] {
  const pieces: StagedPiece[] = [];
  let from = 0;
  let bytes = 0;
  parts.forEach((part, index) => {
    bytes += part.bytes;
    if (bytes < each && index < parts.length - 1) return;
    pieces.push({ offset: 0, bytes, parts: { from, to: index + 1 } });
    from = index + 1;
    bytes = 0;
  });
  return pieces;
}

export function cut(bytes: number, each: number): Piece[] {
  return Array.from({ length: Math.max(1, Math.ceil(bytes / each)) }, (_, i) => ({
    offset: i * each,
    bytes: Math.min(each, bytes - i * each),
  }));
}
