import { describe, expect, test } from 'vitest';
import {
  encodeUserImmediate,
  immediateBytes,
  maxImmediate,
  maxRanks,
} from '../../src/fabric/immediates.js';

describe('a user immediate', () => {
  test('carries the user bit, the source rank and the value', () => {
    expect(encodeUserImmediate(0, 0)).toBe(0x8000_0000);
    expect(encodeUserImmediate(5, 7)).toBe(0x8005_0007);
    expect(encodeUserImmediate(maxRanks - 1, maxImmediate)).toBe(0xffff_ffff);
  });

  test('of two ranks or two values differs', () => {
    const ranks = [0, 1, 255, 256, maxRanks - 1];
    const values = [0, 1, 255, 256, maxImmediate];
    const all = ranks.flatMap((rank) => values.map((value) => encodeUserImmediate(rank, value)));
    expect(new Set(all).size).toBe(all.length);
  });

  test('fits in the bytes that are asked of a provider', () => {
    expect(encodeUserImmediate(maxRanks - 1, maxImmediate)).toBeLessThan(2 ** (8 * immediateBytes));
  });

  test.each([-1, 65_536, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('is never %d', (value) => {
    expect(() => encodeUserImmediate(0, value)).toThrow(TypeError);
  });
});
