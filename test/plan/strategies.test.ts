import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  multi,
  pieceAlignment,
  roundRobin,
  single,
  strategies,
} from '../../src/plan/strategies.js';
import { arbitraryChannels, bytesUpTo } from './arbitrary.js';

describe.each(strategies)('$title', (strategy) => {
  const check = (property: (bytes: number, channels: number) => void) =>
    fc.assert(fc.property(bytesUpTo(2 ** 40), arbitraryChannels, property));

  test('cuts a block into adjoining pieces', () => {
    check((bytes, channels) => {
      let end = 0;
      for (const piece of strategy.split(bytes, channels)) {
        expect(piece.offset).toBe(end);
        end += piece.bytes;
      }
      expect(end).toBe(bytes);
    });
  });

  test('makes an empty piece only of an empty block', () => {
    check((bytes, channels) => {
      const pieces = strategy.split(bytes, channels);
      if (bytes === 0) expect(pieces).toEqual([{ offset: 0, bytes: 0 }]);
      else expect(Math.min(...pieces.map((piece) => piece.bytes))).toBeGreaterThan(0);
    });
  });

  test('makes no more pieces than it says', () => {
    check((bytes, channels) => {
      const most = strategy.maxPieces(channels);
      expect(strategy.split(bytes, channels).length).toBeLessThanOrEqual(most);
    });
  });
});

describe('Multi', () => {
  test('makes pieces that differ by at most a cache line', () => {
    fc.assert(
      fc.property(bytesUpTo(2 ** 40), arbitraryChannels, (bytes, channels) => {
        const sizes = multi.split(bytes, channels).map((piece) => piece.bytes);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(pieceAlignment);
      }),
    );
  });

  test('uses every channel once a block has a cache line for each', () => {
    expect(multi.split(64 * 15 + 1, 16)).toHaveLength(16);
  });

  test('splits a block smaller than a cache line over one channel', () => {
    expect(multi.split(3, 4)).toEqual([{ offset: 0, bytes: 3 }]);
  });

  test('puts piece i on channel i', () => {
    const where = { rank: 3, peer: 2, buffer: 1, channels: 4 };
    expect([0, 1, 2, 3].map((piece) => multi.channelOf({ ...where, piece }))).toEqual([0, 1, 2, 3]);
  });
});

describe('Single', () => {
  test('may use one channel however many there are', () => {
    expect(single.allowedChannels(4)).toBe(1);
  });
});

describe('RoundRobin', () => {
  const channelOf = (rank: number, peer: number, buffer = 0) =>
    roundRobin.channelOf({ rank, peer, buffer, piece: 0, channels: 4 });

  test('takes channel (peer + rank) % channels', () => {
    expect([1, 2, 3].map((peer) => channelOf(2, peer))).toEqual([3, 0, 1]);
  });

  test('rotates several buffers to one peer over the channels', () => {
    expect([0, 1, 2, 3].map((buffer) => channelOf(0, 1, buffer))).toEqual([1, 2, 3, 0]);
  });
});
