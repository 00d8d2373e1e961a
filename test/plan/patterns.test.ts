import { describe, expect, test } from 'vitest';
import {
  allToAll,
  allToAllMatrix,
  allToAllMatrixTraffic,
} from '../../src/plan/patterns/all-to-all.js';
import { oneToEach, oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { pingPong } from '../../src/plan/patterns/ping-pong.js';
import { chunkCount, isWait, isWrite, maxSlot } from '../../src/plan/plan.js';
import { multi, roundRobin, single } from '../../src/plan/strategies.js';
import { planImmediate } from './arbitrary.js';

describe('a chunk count', () => {
  test('counts the shorter last chunk', () => expect(chunkCount(2049, 1024)).toBe(3));
  test('is exact at a multiple', () => expect(chunkCount(2048, 1024)).toBe(2));
  test('is one for nothing', () => expect(chunkCount(0, 1024)).toBe(1));
});

test('an immediate holds the source above the slot and leaves the top bit clear', () => {
  expect(planImmediate(32_767, maxSlot)).toBe(0x7fff_fffd);
});

describe('ping-pong', () => {
  const plan = (rank: number) => pingPong({ rank, world: 3, a: 0, b: 2, bytes: 64 });

  test('starts with a send and a receive that wait for nothing', () => {
    expect(plan(0).steps).toMatchObject([
      { op: 'send', peer: 2, channel: 0, after: [] },
      { op: 'recv', peer: 2, channel: 0, after: [] },
    ]);
  });

  test('is answered after the message has arrived', () => {
    expect(plan(2).steps).toMatchObject([
      { op: 'recv', peer: 0, after: [] },
      { op: 'send', peer: 0, after: [0] },
    ]);
  });

  test('leaves other ranks with nothing to do and no memory', () => {
    expect(plan(1)).toMatchObject({ steps: [], sourceBytes: 0, targetBytes: 0 });
  });

  test('asks for no delivery beyond transmission', () => expect(plan(0).delivery).toBe('transmit'));

  test('with oneself is refused', () => {
    expect(() => pingPong({ rank: 0, world: 2, a: 1, b: 1, bytes: 1 })).toThrow(TypeError);
  });
});

describe('one-to-each', () => {
  const options = { from: 0, world: 4, bytes: 100, channels: 4, strategy: roundRobin };

  test('writes to every other rank unless told otherwise', () => {
    const writes = oneToEach({ ...options, rank: 0 }).steps.filter(isWrite);
    expect(writes.map(({ peer, channel }) => [peer, channel])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  test('gives a rank that is no target an empty plan', () => {
    expect(oneToEach({ ...options, rank: 1, to: [2] }).steps).toEqual([]);
  });

  test('deals several buffers to the targets in turn', () => {
    const writes = oneToEach({ ...options, rank: 0, to: [2, 3], buffers: 3 }).steps.filter(isWrite);
    expect(writes.map(({ peer, slot, remote }) => [peer, slot, remote.offset])).toEqual([
      [2, 0, 0],
      [3, 0, 0],
      [2, 1, 128],
    ]);
  });

  test('spreads several buffers to one target over the channels', () => {
    const { steps } = oneToEach({ ...options, rank: 0, to: [1], buffers: 4 });
    expect(steps.filter(isWrite).map((write) => write.channel)).toEqual([1, 2, 3, 0]);
  });

  test('needs memory only where blocks lie', () => {
    const traffic = oneToEachTraffic({ world: 4, from: 0, to: [2], bytes: 100, buffers: 3 });
    const sizes = [0, 1, 2].map((rank) => [traffic.sourceBytes(rank), traffic.targetBytes(rank)]);
    expect(sizes).toEqual([
      [384, 0],
      [0, 0],
      [0, 384],
    ]);
  });

  test.each([
    ['no target', []],
    ['itself as target', [0]],
    ['a target outside the world', [4]],
    ['a target twice', [1, 1]],
  ])('refuses %s', (_, to) => {
    expect(() => oneToEach({ ...options, rank: 0, to })).toThrow(TypeError);
  });

  test('refuses more buffers than the slots of one peer', () => {
    const many = { ...options, strategy: multi, channels: 16, to: [1], rank: 0, bytes: 1024 };
    expect(() => oneToEach({ ...many, buffers: 4096 })).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE' }),
    );
  });
});

describe('all-to-all', () => {
  const options = { world: 4, bytes: 100, channels: 1, strategy: single };

  test('starts with the next rank', () => {
    const writes = allToAll({ ...options, rank: 2 }).steps.filter(isWrite);
    expect(writes.map((write) => write.peer)).toEqual([3, 0, 1]);
  });

  test('places blocks by peer in the source and by source in the target', () => {
    const [first] = allToAll({ ...options, rank: 2 }).steps.filter(isWrite);
    expect(first).toMatchObject({
      peer: 3,
      local: { offset: 3 * 128 },
      remote: { offset: 2 * 128 },
    });
  });

  test('waits for every other rank and not for itself', () => {
    const waits = allToAll({ ...options, rank: 2 }).steps.filter(isWait);
    expect(waits.map((wait) => wait.source).sort()).toEqual([0, 1, 3]);
  });

  test('of one rank has nothing to do', () => {
    expect(allToAll({ ...options, world: 1, rank: 0 }).steps).toEqual([]);
  });

  test('refuses more ranks than an immediate can name', () => {
    expect(() => allToAll({ ...options, world: 32_769, rank: 0 })).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE' }),
    );
  });
});

describe('all-to-all by a matrix', () => {
  const matrix = [
    [1, 200, 3],
    [64, 5, 65],
    [0, 8, 9],
  ];

  test('sends each pair its own size', () => {
    const { steps } = allToAllMatrix({ matrix, rank: 1, channels: 1, strategy: single });
    expect(steps.filter(isWrite).map(({ peer, local }) => [peer, local.bytes])).toEqual([
      [2, 65],
      [0, 64],
    ]);
  });

  test('packs blocks one after the other', () => {
    const traffic = allToAllMatrixTraffic({ matrix });
    expect(traffic.outgoing(0).map((block) => block.sourceOffset)).toEqual([64, 64 + 256]);
    expect(traffic.incoming(1).map((block) => block.targetOffset)).toEqual([0, 256 + 64]);
  });

  test('sends an empty message for a pair without bytes', () => {
    const { steps } = allToAllMatrix({ matrix, rank: 0, channels: 1, strategy: single });
    expect(steps.filter(isWait)).toContainEqual({
      kind: 'wait',
      channel: 0,
      source: 2,
      slot: 0,
      offset: allToAllMatrixTraffic({ matrix }).incoming(0)[0]!.targetOffset,
      bytes: 0,
      after: [],
    });
  });

  test('refuses a matrix that is not square', () => {
    expect(() => allToAllMatrixTraffic({ matrix: [[1, 2], [3]] })).toThrow('row 1');
  });
});
