import { expect, test } from 'vitest';
import { loadOfTraffic } from '../../src/plan/bound.js';
import { messagesPlan, messagesTraffic } from '../../src/plan/patterns/messages.js';
import { chunksOf, isWait, isWrite, type Plan } from '../../src/plan/plan.js';
import { multi, single } from '../../src/plan/strategies.js';
import { Interpreter } from './interpreter.js';

const traffic = messagesTraffic({ world: 3, from: 0, to: 2, bytes: 8, count: 64 });

/** How many writes a plan makes, or waits for, on each of its steps. */
const chunksBy = ({ steps, chunkBytes }: Plan): number[] =>
  steps.flatMap((step) => {
    if (isWrite(step)) return chunksOf({ bytes: step.local.bytes, parts: step.parts }, chunkBytes);
    return isWait(step) ? chunksOf({ bytes: step.bytes, parts: step.parts }, chunkBytes) : [];
  });

test('messages are the chunks of one step', () => {
  const plan = messagesPlan(traffic, 8, { rank: 0, channels: 2, strategy: single });
  expect(chunksBy(plan)).toEqual([64]);
});

test('channels share them', () => {
  const how = { channels: 4, strategy: multi };
  expect(chunksBy(messagesPlan(traffic, 8, { ...how, rank: 0 }))).toEqual([16, 16, 16, 16]);
  expect(chunksBy(messagesPlan(traffic, 8, { ...how, rank: 2 }))).toEqual([16, 16, 16, 16]);
});

test('a message larger than a chunk is cut by itself', () => {
  const large = messagesTraffic({ world: 2, from: 0, to: 1, bytes: 96, count: 4 });
  const how = { channels: 1, strategy: single, chunkBytes: 64 };
  expect(chunksBy(messagesPlan(large, 96, { ...how, rank: 0 }))).toEqual([8]);
  expect(chunksBy(messagesPlan(large, 96, { ...how, rank: 1 }))).toEqual([8]);
});

test.each([
  ...[8, 24, 64, 100, 4096].flatMap((bytes) =>
    [3, 5].map((channels) => [bytes, channels] as const),
  ),
])('no message of %i bytes is cut in two by %i channels', (bytes, channels) => {
  const many = messagesTraffic({ world: 2, from: 0, to: 1, bytes, count: 4096 });
  const plan = messagesPlan(many, bytes, { rank: 0, channels, strategy: multi });
  const { steps } = plan;
  expect(chunksBy(plan).reduce((sum, one) => sum + one, 0)).toBe(4096);
  for (const { local } of steps.filter(isWrite)) expect(local.offset % bytes).toBe(0);
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
  const plans = [0, 1, 2].map((rank) => messagesPlan(traffic, 8, { ...how, rank }));
  const interpreter = new Interpreter(plans, 5, 2);
  interpreter.run(() => {});
  expect([...interpreter.ranks[2]!.writes]).toEqual(Array(512).fill(2));
});
