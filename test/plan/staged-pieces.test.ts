import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxSlot } from '../../src/plan/plan.js';
import { mostStagedPieces, stagedPieces } from '../../src/plan/staged-pieces.js';
import { bytesUpTo } from './arbitrary.js';

describe('pieces', () => {
  test('cover the transfer, are few, and start on cache lines', () => {
    fc.assert(
      fc.property(bytesUpTo(2 ** 34), fc.integer({ min: 1, max: 2 ** 24 }), (bytes, each) => {
        const pieces = stagedPieces(bytes, each);
        expect(pieces.length).toBeLessThanOrEqual(mostStagedPieces);
        let end = 0;
        for (const piece of pieces) {
          expect(piece.offset).toBe(end);
          expect(piece.offset % 64).toBe(0);
          expect(piece.bytes > 0 || bytes === 0).toBe(true);
          end += piece.bytes;
        }
        expect(end).toBe(bytes);
      }),
    );
  });

  test('of the largest plan have slots of their own', () => {
    expect(1 + 1022 * mostStagedPieces + mostStagedPieces - 1).toBeLessThanOrEqual(maxSlot);
  });
});
