import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadOfTraffic } from '../../src/plan/bound.js';
import { encodePlan } from '../../src/plan/encode.js';
import { allToAll } from '../../src/plan/patterns/all-to-all.js';
import { oneToEach } from '../../src/plan/patterns/one-to-each.js';
import { pingPong, pingPongTraffic } from '../../src/plan/patterns/ping-pong.js';
import { chunkCount, isWait, isWrite, type Step } from '../../src/plan/plan.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { single, strategies } from '../../src/plan/strategies.js';
import type { Block, Traffic } from '../../src/plan/traffic.js';
import { planFor, waitFor, writeOf } from '../../src/plan/write-plan.js';
import { arbitraryStrategy, bytesUpTo } from './arbitrary.js';
import { decodePlan } from './decode-plan.js';
import { loadOfPlans } from './load-of-plans.js';
import { scattered } from './scattered.js';
import { arbitraryRun, execute, pacing, pieceBytes, stagedPlans } from './staged-run.js';

describe.each(strategies)('$title staged, under random schedules', (strategy) => {
  test('every byte comes from device to device, in the iteration in which it was sent', () => {
    fc.assert(
      fc.property(arbitraryRun, ({ traffic, seed, pieceBytes, ...paced }) => {
        execute(stagedPlans(traffic, { ...paced, strategy }, pieceBytes), traffic, seed);
      }),
      { numRuns: 100 },
    );
  });
});

describe('parts staged', () => {
  const shape = fc.record({
    bytes: fc.oneof(fc.nat(60), fc.constant(0)),
    sourceGap: fc.nat(3),
    targetGap: fc.nat(3),
  });
  const run = fc.record({
    shapes: fc.array(shape, { minLength: 1, maxLength: 12 }),
    pieceBytes,
    seed: fc.integer(),
    strategy: arbitraryStrategy,
    ...pacing,
  });

  test('under random schedules, every byte comes from device to device', () => {
    fc.assert(
      fc.property(run, ({ shapes, pieceBytes, seed, ...options }) => {
        const traffic = scattered(shapes);
        execute(stagedPlans(traffic, options, pieceBytes), traffic, seed);
      }),
      { numRuns: 100 },
    );
  });

  test('are one copy per piece, of neighbours together', () => {
    const shapes = [100, 0, 100, 100].map((bytes, i) => ({
      ...{ bytes, sourceGap: 0, targetGap: i === 3 ? 8 : 0 },
    }));
    const plans = stagedPlans(scattered(shapes), { channels: 1, strategy: single }, 1000);
    const copies = plans.map(({ steps }) => steps.filter(({ kind }) => kind === 'copy'));
    const slice = (buffer: string, bytes: number) => ({ buffer, offset: 0, bytes });
    expect(copies[0]).toEqual([
      { kind: 'copy', from: slice('sourceDevice', 300), to: slice('source', 300), after: [] },
    ]);
    expect(copies[1]).toMatchObject([
      {
        ...{ from: slice('target', 300), to: slice('targetDevice', 300) },
        parts: [
          { from: 0, to: 0, bytes: 200 },
          { from: 208, to: 208, bytes: 100 },
        ],
      },
    ]);
    for (const plan of plans) expect(decodePlan(encodePlan(plan))).toEqual(plan);
  });
});

test('what is passed on in parts, behind a join, is passed on before its source is told', () => {
  const part = (sourceOffset: number, targetOffset: number) => ({
    ...{ sourceOffset, targetOffset, bytes: 30 },
  });
  const sent: Block = { source: 0, target: 1, buffer: 0, ...part(0, 100), bytes: 60 };
  const first = { ...sent, parts: [part(0, 100), part(40, 150)] };
  const parts = [part(100, 0), part(150, 60)];
  const second: Block = { ...sent, source: 1, target: 2, ...parts[0]!, bytes: 60, parts };
  const contents = (at: readonly number[]) =>
    at.map((offset, i) => ({ offset, bytes: 30, copyOf: { rank: 0, offset: 40 * i } }));
  const traffic: Traffic = {
    ...{ title: 'relay', world: 3, sequential: false },
    outgoing: (rank) => [[first], [second], []][rank]!,
    incoming: (rank) => [[], [first], [second]][rank]!,
    contents: (rank) => contents([[], [100, 150], [0, 60]][rank]!),
    sourceBytes: (rank) => [70, 0, 0][rank]!,
    targetBytes: (rank) => [0, 180, 90][rank]!,
  };
  const piece = { offset: 0, bytes: 60, channel: 0, slot: 0 };
  const passedOn = writeOf({ ...second, sourceBuffer: 'target' }, piece);
  const steps: Step[][] = [
    [writeOf(first, piece)],
    [waitFor(first, piece), { kind: 'join', after: [0] }, { ...passedOn, after: [1] }],
    [waitFor(second, piece)],
  ];
  const options = { channels: 1, chunkBytes: 20, window: 2 };
  const plans = steps.map((all, rank) =>
    stagedPlan(planFor(traffic, { ...options, rank }, all), 10),
  );
  for (let seed = 0; seed < 50; seed++) execute(plans, traffic, seed);
});

describe('ping-pong staged, under random schedules', () => {
  const game = fc.record({
    bytes: bytesUpTo(400),
    chunkBytes: pacing.chunkBytes,
    window: pacing.window,
    pieceBytes,
    seed: fc.integer(),
  });

  test('every byte comes from device to device, there and back', () => {
    fc.assert(
      fc.property(game, ({ seed, pieceBytes: piece, ...options }) => {
        const players = { world: 3, a: 2, b: 0 };
        const plans = [0, 1, 2].map((rank) =>
          stagedPlan(pingPong({ ...options, ...players, rank }), piece),
        );
        execute(plans, pingPongTraffic({ ...players, bytes: options.bytes }), seed);
      }),
      { numRuns: 150 },
    );
  });

  test('the answer starts when the whole message is on the device', () => {
    const options = { world: 2, a: 0, b: 1, bytes: 1000, chunkBytes: 1000 };
    const { steps } = stagedPlan(pingPong({ ...options, rank: 1 }), 256);
    const arrivals = steps.flatMap((step, index) =>
      step.kind === 'copy' && step.to.buffer === 'targetDevice' ? [index] : [],
    );
    expect(arrivals).toHaveLength(4);
    for (const step of steps) {
      if (step.kind === 'copy' && step.from.buffer === 'sourceDevice') {
        expect(step.after).toEqual(arrivals);
      }
    }
  });
});

describe('a staged plan', () => {
  test('has the same arrivals on both sides, no two pieces with one immediate', () => {
    fc.assert(
      fc.property(arbitraryRun, arbitraryStrategy, (run, strategy) => {
        const { traffic, pieceBytes: piece, seed: _, ...paced } = run;
        const sent: string[] = [];
        const awaited: string[] = [];
        for (const plan of stagedPlans(traffic, { ...paced, strategy }, piece)) {
          for (const { peer, slot, local } of plan.steps.filter(isWrite)) {
            const count = chunkCount(local.bytes, plan.chunkBytes);
            sent.push(`${plan.rank}>${peer} ${slot}: ${count}`);
          }
          for (const { source, slot, bytes } of plan.steps.filter(isWait)) {
            const count = chunkCount(bytes, plan.chunkBytes);
            awaited.push(`${source}>${plan.rank} ${slot}: ${count}`);
          }
        }
        expect(awaited.sort()).toEqual(sent.sort());
        expect(new Set(sent).size).toBe(sent.length);
      }),
      { numRuns: 100 },
    );
  });

  test('loads the links as the plan it was made from', () => {
    fc.assert(
      fc.property(arbitraryRun, arbitraryStrategy, (run, strategy) => {
        const { traffic, pieceBytes: piece, seed: _, ...paced } = run;
        const load = loadOfPlans(stagedPlans(traffic, { ...paced, strategy }, piece));
        expect(load).toEqual(loadOfTraffic(traffic, strategy, paced.channels));
      }),
    );
  });

  test('of a ping-pong stays sequential', () => {
    const plans = [0, 1].map((rank) =>
      stagedPlan(pingPong({ rank, world: 2, a: 0, b: 1, bytes: 900 }), 100),
    );
    expect(loadOfPlans(plans).sequential).toBe(true);
  });

  test('survives encoding', () => {
    const options = { world: 3, bytes: 1000, rank: 1, channels: 2, strategy: single };
    const plan = stagedPlan(allToAll(options), 128);
    expect(decodePlan(encodePlan(plan))).toEqual(plan);
  });

  test('begins every transfer before it goes on with any', () => {
    const options = { world: 3, bytes: 1024, rank: 0, channels: 1, strategy: single };
    const { steps } = stagedPlan(allToAll(options), 512);
    const peers = steps.filter(isWrite).filter((write) => write.local.bytes > 0);
    expect(peers.map((write) => write.peer)).toEqual([1, 2, 1, 2]);
  });

  test('is not staged twice', () => {
    const options = { world: 2, from: 0, bytes: 64, rank: 0, channels: 1, strategy: single };
    const staged = stagedPlan(oneToEach(options), 64);
    expect(() => stagedPlan(staged, 64)).toThrow('staged already');
  });

  test('refuses more transfers to a peer than its immediates can number', () => {
    const options = { world: 2, from: 0, bytes: 64, rank: 0, channels: 1, strategy: single };
    expect(() => stagedPlan(oneToEach({ ...options, buffers: 1023 }), 64)).not.toThrow();
    const tooMany = oneToEach({ ...options, buffers: 1024 });
    expect(() => stagedPlan(tooMany, 64)).toThrow('only 1023 staged transfers');
  });
});
