import { expect, test } from 'vitest';
import { loadOfTraffic } from '../../src/plan/bound.js';
import { messagesTraffic } from '../../src/plan/patterns/messages.js';
import { chunksOf, isWait, isWrite } from '../../src/plan/plan.js';
import { multi, single } from '../../src/plan/strategies.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { Interpreter } from './interpreter.js';

const traffic = messagesTraffic({ world: 3, from: 0, to: 2, bytes: 8, count: 64 });

test('messages are the parts of one step, each a chunk of its own', () => {
  const [write, ...rest] = writePlan(traffic, { rank: 0, channels: 2, strategy: single }).steps;
  expect(rest).toEqual([]);
  if (!isWrite(write!)) throw new Error('not a write');
  expect(chunksOf({ bytes: write.local.bytes, parts: write.parts }, 2 ** 20)).toBe(64);
});

test('channels share them', () => {
  const { steps } = writePlan(traffic, { rank: 0, channels: 4, strategy: multi });
  const counts = steps.filter(isWrite).map(({ parts }) => parts?.length);
  expect(counts).toEqual([16, 16, 16, 16]);
  const waits = writePlan(traffic, { rank: 2, channels: 4, strategy: multi }).steps.filter(isWait);
  expect(waits.map(({ parts }) => parts?.length)).toEqual(counts);
});

test.each([
  ...[8, 24, 64, 100, 4096].flatMap((bytes) =>
    [3, 5].map((channels) => [bytes, channels] as const),
  ),
])('no message of %i bytes is cut in two by %i channels', (bytes, channels) => {
  const many = messagesTraffic({ world: 2, from: 0, to: 1, bytes, count: 4096 });
  const { steps } = writePlan(many, { rank: 0, channels, strategy: multi });
  const writes = steps.filter(isWrite).flatMap(({ parts = [] }) => parts);
  expect(writes).toHaveLength(4096);
  expect(new Set(steps.filter(isWrite).map(({ channel }) => channel)).size).toBe(channels);
  const load = loadOfTraffic(many, multi, channels);
  const planned = Array.from({ length: channels }, (_, channel) =>
    steps
      .filter(isWrite)
      .reduce((sum, one) => sum + (one.channel === channel ? one.local.bytes : 0), 0),
  );
  expect([...load.out.subarray(0, channels)]).toEqual(planned);
});

test('they arrive, however ranks run', () => {
  const how = { channels: 3, strategy: multi, window: 4 };
  const plans = [0, 1, 2].map((rank) => writePlan(traffic, { ...how, rank }));
  const interpreter = new Interpreter(plans, 5, 2);
  interpreter.run(() => {});
  expect([...interpreter.ranks[2]!.writes]).toEqual(Array(512).fill(2));
});
