import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JoinStep, type Plan, planVersion, type Step } from '../../src/plan/plan.js';
import { RanksInProcess } from '../engine/ranks-in-process.js';
import { shuffle } from '../native/hooks.js';
import { providers } from './pair.js';

const bytes = 4096;
const iterations = 3;
const millisecond = 1e6;

const planOf = (rank: number, steps: readonly Step[]): Plan => ({
  ...{ version: planVersion, rank, world: 2, channels: 1, chunkBytes: 4096, window: 8 },
  ...{ delivery: 'complete', sourceBytes: bytes, targetBytes: bytes, steps },
});
const join = (milliseconds: number, after: readonly number[] = []): JoinStep => ({
  kind: 'join',
  after,
  notBefore: milliseconds * millisecond,
});
const write = (after: readonly number[]): Step => ({
  ...{ kind: 'post', op: 'write', channel: 0, peer: 1, slot: 0, after },
  local: { buffer: 'source', offset: 0, bytes },
  remote: { offset: 0 },
});
const wait: Step = { kind: 'wait', source: 0, slot: 0, offset: 0, bytes, after: [] };

interface Marked {
  readonly samples: Float64Array;
  readonly marks: Float64Array;
}

describe.each(providers)('$name', ({ options }) => {
  let ranks: RanksInProcess;
  beforeAll(async () => {
    const { provider = '', ...how } = options;
    ranks = await RanksInProcess.open({ ...how, provider, ranks: 2, channels: 1, bytes });
  });
  afterAll(() => ranks[Symbol.asyncDispose]());

  const run = (steps: readonly (readonly Step[])[], how: object = {}) =>
    ranks.run((rank) => planOf(rank, steps[rank]!), { iterations, ...how });

  /** What rank `marking` kept of these steps. */
  const marked = async (
    steps: readonly (readonly Step[])[],
    marking: number,
    marks: readonly number[],
  ): Promise<Marked> => {
    const how = { iterations, marks: Uint32Array.from(marks) };
    const found = await ranks.run(
      (rank) => planOf(rank, steps[rank]!),
      {},
      (rank) => (rank === marking ? how : { iterations }),
    );
    return found[marking] as unknown as Marked;
  };

  test('what comes after a join starts when its time has come, in every iteration', async () => {
    const steps = [[join(2), write([0])], [wait]];
    const [samples] = await run(steps);
    expect(samples).toHaveLength(iterations);
    for (const sample of samples!) expect(sample).toBeGreaterThanOrEqual(2 * millisecond);
    const [batch] = await run(steps, { batch: iterations });
    expect(batch![0]).toBeGreaterThanOrEqual(2 * iterations * millisecond);
  });

  test('joins are done in the order of their times, and after the steps before them', async () => {
    const steps = [[join(3), join(1), join(2, [0]), write([2])], [wait]];
    const { samples, marks } = await marked(steps, 0, [0, 1, 2, 3]);
    expect(marks).toHaveLength(4 * iterations);
    for (let i = 0; i < iterations; i++) {
      const [late, early, after, end] = marks.subarray(4 * i, 4 * (i + 1));
      expect(early).toBeGreaterThanOrEqual(millisecond);
      expect(late).toBeGreaterThanOrEqual(3 * millisecond);
      expect(late).toBeGreaterThan(early!);
      expect(after).toBeGreaterThanOrEqual(late!);
      expect(end).toBeGreaterThan(after!);
      expect(end).toBeLessThanOrEqual(samples[i]!);
    }
  });

  test('an arrival is marked where it is counted', async () => {
    const steps = [[write([])], [wait, { kind: 'join', after: [0] } as const]];
    const { samples, marks } = await marked(steps, 1, [1, 0]);
    expect(marks).toHaveLength(2 * iterations);
    for (let i = 0; i < iterations; i++) {
      const [joined, arrived] = marks.subarray(2 * i, 2 * (i + 1));
      expect(joined).toBeGreaterThanOrEqual(arrived!);
      expect(joined).toBeLessThanOrEqual(samples[i]!);
    }
  });
});

test('a rank that waits for a time is not late', async () => {
  await using ranks = await RanksInProcess.open({ ranks: 2, provider: 'shm', channels: 1, bytes });
  // The first barrier must be over within the timeout, on a busy machine, too.
  const how = { iterations: 1, timeoutMs: 500, expectedMs: 5000 };
  const ended = ranks.run((rank) => planOf(rank, rank === 0 ? [join(1500)] : []), how);
  await expect(ended).resolves.toHaveLength(2);
});

describe('wrong times', () => {
  let ranks: RanksInProcess;
  beforeAll(async () => {
    ranks = await RanksInProcess.open({ ranks: 1, provider: 'shm', channels: 1, bytes });
  });
  afterAll(() => ranks[Symbol.asyncDispose]());
  const alone = (steps: readonly Step[], how: object = {}) =>
    ranks.run(() => ({ ...planOf(0, steps), world: 1 }), how);

  test.each([
    ['of a step that is not there', [1]],
    ['twice of one step', [0, 0]],
  ])('a mark %s is refused', async (_, marks) => {
    const refused = alone([join(0)], { marks: Uint32Array.from(marks) });
    await expect(refused).rejects.toThrow('a mark names no step');
  });

  test('a time of more than a day is refused', async () => {
    await expect(alone([join(25 * 3600 * 1000)])).rejects.toThrow('more than a day');
  });

  test('a rank that waits for a time is late with what it started before', async () => {
    const stuck = await RanksInProcess.open({ ranks: 1, provider: 'shm', channels: 1, bytes });
    shuffle(stuck.fabrics[0]!, 1, 1); // no completion ever comes
    const steps = [join(60_000), { ...write([]), peer: 0 } as Step];
    const run = stuck.run(() => ({ ...planOf(0, steps), world: 1 }), { timeoutMs: 100 });
    await expect(run).rejects.toThrow('did not receive the data sent');
    await stuck[Symbol.asyncDispose]();
  });

  test('an abort ends the wait for a time', async () => {
    const ended = alone([join(60_000)]);
    ranks.fabrics[0]!.port.native.abort();
    await expect(ended).rejects.toThrow('aborted');
  });
});
