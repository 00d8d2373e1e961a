import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkMessage,
  Exchange,
  uniformMatrix,
} from '../../src/benchmarks/all-to-all-single/exchange.js';

describe('a uniform exchange', () => {
  const exchange = new Exchange(uniformMatrix(3, 8), 'float32');

  test('rank r starts at r × total', () => {
    expect([0, 1, 2].map((rank) => exchange.outgoing(rank)[0]!.first)).toEqual([0, 6, 12]);
  });

  test('a rank receives its block of every sender, in the order of ranks', () => {
    expect(exchange.incoming(1)).toMatchObject([
      { peer: 0, offset: 0, bytes: 8, first: 2 },
      { peer: 1, offset: 8, bytes: 8, first: 8 },
      { peer: 2, offset: 16, bytes: 8, first: 14 },
    ]);
  });

  test('the busiest rank exchanges all but its own block', () => {
    expect([exchange.busiestBytes(true), exchange.busiestBytes(false)]).toEqual([24, 16]);
  });
});

describe('an exchange of blocks of different sizes', () => {
  const matrices = fc
    .integer({ min: 1, max: 6 })
    .chain((world) =>
      fc.array(fc.array(fc.nat(9), { minLength: world, maxLength: world }), {
        minLength: world,
        maxLength: world,
      }),
    )
    .map((elements) => elements.map((row) => row.map((count) => count * 8)));

  test('carries every number exactly once', () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        const exchange = new Exchange(matrix, 'int64');
        const ranks = matrix.map((_, rank) => rank);
        const numbers = (blocks: readonly { first: number; bytes: number }[]) =>
          blocks.flatMap(({ first, bytes }) =>
            Array.from({ length: bytes / 8 }, (_, index) => first + index),
          );
        const sent = ranks.flatMap((rank) => numbers(exchange.outgoing(rank)));
        const received = ranks.flatMap((rank) => numbers(exchange.incoming(rank)));
        expect(sent).toEqual(sent.map((_, index) => index));
        expect(received.sort((a, b) => a - b)).toEqual(sent);
      }),
    );
  });

  test('lies in its buffers without gaps, where the plan puts it', () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        const exchange = new Exchange(matrix, 'int64');
        const traffic = exchange.traffic();
        for (const rank of matrix.keys()) {
          const blocks = exchange.incoming(rank);
          let end = 0;
          for (const { offset, bytes } of blocks) {
            expect(offset).toBe(end);
            end += bytes;
          }
          expect(end).toBe(exchange.targetBytes(rank));
          for (const { source, targetOffset, sourceOffset, bytes } of traffic.incoming(rank)) {
            expect(blocks[source]).toMatchObject({ offset: targetOffset, sourceOffset, bytes });
          }
        }
      }),
    );
  });
});

describe('messages are whole elements', () => {
  test.each([
    [1001, 'float32', /1001 is not a multiple of 4 bytes/],
    [12, 'int64', /8 bytes, the size of one int64/],
    [0, 'int32', /nothing to exchange/],
  ] as const)('%d bytes of %s', (bytes, dtype, message) => {
    expect(() => checkMessage(bytes, dtype)).toThrow(message);
  });

  test('the hint names sizes that would do', () => {
    expect(() => checkMessage(1001, 'float32')).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE', hint: 'Use 1000 or 1004.' }),
    );
    expect(() => checkMessage(3, 'float32')).toThrow(expect.objectContaining({ hint: 'Use 4.' }));
  });
});
