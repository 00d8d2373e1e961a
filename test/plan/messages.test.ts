import { expect, test } from 'vitest';
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

test('they arrive, however ranks run', () => {
  const how = { channels: 3, strategy: multi, window: 4 };
  const plans = [0, 1, 2].map((rank) => writePlan(traffic, { ...how, rank }));
  const interpreter = new Interpreter(plans, 5, 2);
  interpreter.run(() => {});
  expect([...interpreter.ranks[2]!.writes]).toEqual(Array(512).fill(2));
});
