import { expect, test } from 'vitest';
import { pairEcho, pairEchoTraffic, pairWrites } from '../../src/plan/patterns/between-pairs.js';

const pairs = [
  [3, 0],
  [1, 2],
] as const;

test('in pair writes both ends tell the same story', () => {
  const traffic = pairWrites({ world: 5, pairs, bytes: 1000 });
  const sent = [0, 1, 2, 3, 4].flatMap((rank) => traffic.outgoing(rank));
  const received = [0, 1, 2, 3, 4].flatMap((rank) => traffic.incoming(rank));
  expect(sent.map(({ source, target }) => [source, target])).toEqual([
    [1, 2],
    [3, 0],
  ]);
  expect(new Set(received)).toEqual(new Set(sent));
  expect(traffic.outgoing(4)).toEqual([]);
});

test('an echo uses each channel apart, and an idle rank has nothing to do', () => {
  const options = { world: 5, pairs, bytes: 8, channels: [0, 2] };
  const steps = (rank: number) => pairEcho({ ...options, rank }).steps;
  expect(steps(4)).toEqual([]);
  expect(steps(3).map((step) => step.kind === 'post' && [step.op, step.channel])).toEqual([
    ['send', 0],
    ['recv', 0],
    ['send', 2],
    ['recv', 2],
  ]);
  expect(steps(0).map((step) => step.after)).toEqual([[], [0], [], [2]]);
  expect(
    pairEchoTraffic(options)
      .incoming(0)
      .map(({ source }) => source),
  ).toEqual([3, 3]);
});

test('a rank cannot be in two pairs at once', () => {
  const twice = [
    [0, 1],
    [1, 2],
  ] as const;
  expect(() => pairWrites({ world: 3, pairs: twice, bytes: 8 })).toThrow('two pairs');
});
