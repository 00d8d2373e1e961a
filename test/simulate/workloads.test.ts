import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { benchmarkById } from '../../src/benchmarks/index.js';
import type { PlanBenchmark } from '../../src/runner/benchmark.js';
import { type Given, jobOf } from '../../src/runner/job.js';
import { predictRun } from '../../src/runner/predict/predict-run.js';
import type { FabricModel } from '../../src/simulate/fabric-model.js';
import type { SimulatedWorld } from '../../src/simulate/wiring.js';

const mebibyte = 2 ** 20;
/** NICs of 80 Gbps, which are 10 bytes per nanosecond, and nothing else that takes time. */
const fabric: FabricModel = {
  schema: 'weft.fabric/1',
  name: 'ideal',
  source: 'round numbers',
  nicsPerRank: 4,
  lineRateGbps: 80,
  chunkBytes: mebibyte,
  parameters: {
    nicGbps: 80,
    writeMicroseconds: 0,
    sendMicroseconds: 0,
    chunkMicroseconds: 0,
    splitMicroseconds: 0,
    duplexEfficiency: 1,
    hostMicroseconds: 0,
  },
};
const line = (bytes: number): number => bytes / 10;
const folder = mkdtempSync(join(tmpdir(), 'weft-predict-'));
afterAll(() => rmSync(folder, { recursive: true }));

function predicted(id: string, column: string, given: Given, more: Partial<SimulatedWorld> = {}) {
  const benchmark = benchmarkById(id) as PlanBenchmark;
  const { bytes, ...rest } = given;
  const sizes = bytes === undefined ? {} : { minBytes: bytes, maxBytes: bytes };
  const job = { ...jobOf(benchmark, { ...sizes, columns: [column], ...rest }), benchmark };
  const run = predictRun({ job, world: { fabric, nodes: 4, ranksPerNode: 1, ...more } });
  expect(run.rows).toHaveLength(1);
  return { run, time: run.rows[0]!.nanoseconds!.mean };
}
const timeOf = (...args: Parameters<typeof predicted>): number => predicted(...args).time;

const bytes = 8 * mebibyte;

describe('times in an ideal fabric follow from the busiest NIC', () => {
  test.each([
    // Four senders to one NIC; the same over four NICs; each sender has a NIC of the receiver for itself.
    ['incast', 'SinglePin', {}, 5, line(4 * bytes)],
    ['incast', 'MultiPin', {}, 5, line(bytes)],
    ['incast', 'RoundRobinPin', {}, 5, line(bytes)],
    ['incast', 'SinglePin', { senders: 2, receiver: 3 }, 5, line(2 * bytes)],
    ['permute', 'SinglePin', { permutations: 3 }, 6, line(bytes)],
    ['bisect', 'MultiPin', {}, 6, line(bytes / 4)],
    ['ring', 'SinglePin', {}, 6, line(bytes)],
    ['bidir', 'SinglePin', {}, 3, line(bytes)],
    // A rank sends or receives three quarters of the buffer, once or twice.
    ['allgather', 'SinglePin', { algorithm: 'ring' }, 4, line((bytes * 3) / 4)],
    ['allgather', 'SinglePin', { algorithm: 'direct' }, 4, line((bytes * 3) / 4)],
    ['reduce-scatter', 'SinglePin', { algorithm: 'ring' }, 4, line((bytes * 3) / 4)],
    ['allreduce', 'SinglePin', { algorithm: 'ring' }, 4, line((bytes * 6) / 4)],
    ['allreduce', 'MultiPin', { algorithm: 'direct' }, 4, line((bytes * 6) / 16)],
    // The root writes to three ranks.
    ['broadcast', 'SinglePin', { algorithm: 'direct' }, 4, line(3 * bytes)],
  ] as const)('%s %s %j with %i nodes', (id, column, options, nodes, expected) => {
    expect(timeOf(id, column, { bytes, ...options }, { nodes }) / expected).toBeCloseTo(1, 6);
  });

  test('moe: every token of every other rank goes to one expert, and comes back', () => {
    const options = { tokens: [256], hidden: 4096, topK: 1, routing: 'hot:1:1' };
    const toOne = line((3 * 256 * 4096 * 2) / 4);
    expect(timeOf('moe', 'DispatchMultiPin', options) / toOne).toBeCloseTo(1, 2);
    expect(timeOf('moe', 'CombineMultiPin', options) / toOne).toBeCloseTo(1, 2);
    expect(timeOf('moe', 'BothMultiPin', options) / (2 * toOne)).toBeCloseTo(1, 2);
    expect(timeOf('moe', 'DispatchMultiPin', { ...options, routing: 'uniform' })).toBeLessThan(
      0.5 * toOne,
    );
  });

  test('kv: each of two prefill ranks hands over half of the pages', () => {
    const pages = { bytes: mebibyte, requests: 8, layers: 2, pages: 4 };
    const half = line((8 * 2 * 4 * mebibyte) / 2 / 4);
    for (const column of ['PushMultiPin', 'PullMultiPin']) {
      expect(timeOf('kv', column, pages) / half).toBeCloseTo(1, 6);
    }
  });

  test('traffic: the rank that receives most decides an imbalanced exchange', () => {
    const file = join(folder, 'matrix.csv');
    writeFileSync(file, '0,4M,1M\n2M,0,1M\n1M,4M,0\n');
    expect(timeOf('traffic', 'SinglePin', { file }, { nodes: 3 })).toBeCloseTo(
      line(8 * mebibyte),
      0,
    );
  });
});

describe('a slow part of the fabric', () => {
  const faults = [{ host: 0, nic: 0, rate: 0.5 }];

  test('a NIC at half its rate doubles the time of what must pass it', () => {
    for (const [id, column] of [
      ['incast', 'SinglePin'],
      ['ring', 'SinglePin'],
      ['allreduce', 'SinglePin'],
    ] as const) {
      const ratio = timeOf(id, column, { bytes }, { faults }) / timeOf(id, column, { bytes });
      expect(ratio, id).toBeCloseTo(2, 6);
    }
  });

  test('moe and kv wait for it, too', () => {
    const tokens = { tokens: [128], hidden: 1024 };
    const slow = timeOf('moe', 'DispatchMultiPin', tokens, { faults });
    expect(slow / timeOf('moe', 'DispatchMultiPin', tokens)).toBeGreaterThan(1.9);
    const pages = { bytes: mebibyte };
    const late = timeOf('kv', 'PushMultiPin', pages, { faults });
    expect(late / timeOf('kv', 'PushMultiPin', pages)).toBeCloseTo(2, 6);
  });

  test('spines with half the rate of their leaves double the time of what crosses them', () => {
    const switches = { hostsPerLeaf: 2, oversubscription: 2, routing: 'spray', seed: 1 } as const;
    const ratio = (id: string, column: string) =>
      timeOf(id, column, { bytes }, { switches }) / timeOf(id, column, { bytes });
    expect(ratio('bisect', 'MultiPin')).toBeCloseTo(2, 6);
    // One of two neighbours is below the same leaf: two ranks cross, of four NICs each, over an uplink of four.
    expect(ratio('ring', 'MultiPin')).toBeCloseTo(1, 6);
  });
});

test('a prediction records what was asked for', () => {
  const { run } = predicted('moe', 'BothMultiPin', { tokens: [128], routing: 'zipf:1.2' });
  expect(run.settings).toMatchObject({ tokens: [128], routing: 'zipf:1.2', topK: 8 });
  expect(run.model?.name).toBe('ideal');
});
