import { cpus } from 'node:os';
import { describe, expect, test } from 'vitest';
import { isCrowded, spinsFor } from '../../src/engine/spinning.js';

const cores = cpus().length;
const member = (rank: number, bootId = 'a', netns = 'n') => ({
  rank,
  localRank: rank,
  host: 'h',
  pid: 1,
  bootId,
  netns,
});
const ranks = (count: number, bootId?: string) =>
  Array.from({ length: count }, (_, rank) => member(rank, bootId));

describe('a machine is crowded', () => {
  test('with more ranks than cores', () => {
    expect(isCrowded({ rank: 0, members: ranks(cores) })).toBe(false);
    expect(isCrowded({ rank: 0, members: ranks(cores + 1) })).toBe(true);
  });

  test('with more ranks and threads of theirs than cores', () => {
    expect(isCrowded({ rank: 0, members: ranks(1) }, cores - 1)).toBe(false);
    expect(isCrowded({ rank: 0, members: ranks(1) }, cores)).toBe(true);
  });

  test('where hosts share it', () => {
    const members = [member(0), member(1, 'a', 'other')];
    expect(isCrowded({ rank: 0, members })).toBe(true);
  });

  test('not by ranks of another one', () => {
    const members = [member(0), ...ranks(cores, 'b')];
    expect(isCrowded({ rank: 0, members })).toBe(false);
  });
});

test('nobody spins where cores are shared', () => {
  expect(spinsFor(true)).toBe(0);
  expect(spinsFor(false)).toBeGreaterThan(0);
});
