import { describe, expect, test } from 'vitest';
import { gpuMisfit } from '../../src/runner/memory-plan.js';
import { gpuNumberOf } from '../../src/session/devices.js';

const MiB = 2 ** 20;

describe('a rank’s GPU', () => {
  test('goes by local rank, round and round', () => {
    expect([0, 1, 2, 3].map((rank) => gpuNumberOf(rank, 2, undefined))).toEqual([0, 1, 0, 1]);
  });

  test('is one of those asked for', () => {
    expect([0, 1, 2].map((rank) => gpuNumberOf(rank, 8, [5, 2]))).toEqual([5, 2, 5]);
  });

  test('is none where there is none', () => {
    expect(gpuNumberOf(0, 0, undefined)).toBeUndefined();
  });
});

describe('buffers in GPU memory', () => {
  const hosts = ['a', 'a', 'b'];
  const need = (sourceBytes: number, targetBytes: number) => ({ sourceBytes, targetBytes });
  const room = (id: string, freeMiB: number) => ({ id, freeBytes: freeMiB * MiB });

  test('of ranks that share a GPU add up', () => {
    const needs = [need(100 * MiB, 0), need(0, 100 * MiB), need(0, 0)];
    const rooms = (free: number) => [room('a 0', free), room('a 0', free), room('b 0', 999)];
    // 64 MiB for each rank are CUDA's own.
    expect(gpuMisfit({ hosts }, needs, rooms(328))).toBeUndefined();
    expect(gpuMisfit({ hosts }, needs, rooms(327))).toBe(
      '2 ranks need 200M for buffers on one GPU of a; 327M is free',
    );
  });

  test('of ranks with GPUs of their own do not', () => {
    const needs = [need(100 * MiB, 0), need(0, 100 * MiB), need(0, 0)];
    const rooms = [room('a 0', 164), room('a 1', 164), room('b 0', 64)];
    expect(gpuMisfit({ hosts }, needs, rooms)).toBeUndefined();
  });

  test('that fit nowhere name the rank', () => {
    const needs = [need(0, 0), need(0, 0), need(2 ** 40, 0)];
    const rooms = [room('a 0', 999), room('a 1', 999), room('b 0', 999)];
    expect(gpuMisfit({ hosts }, needs, rooms)).toMatch(
      /^rank 2 needs 1T for buffers on one GPU of b/,
    );
  });
});
