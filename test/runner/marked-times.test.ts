import { expect, test } from 'vitest';
import { victim } from '../../src/benchmarks/victim.js';
import { multi } from '../../src/plan/strategies.js';
import { MarkedTimes } from '../../src/runner/marked-times.js';

const situation = { rank: 0, channels: 2, strategy: multi };
const turnsOf = (loadBytes: number) =>
  victim.turns({
    ...{ world: 3, hosts: ['a', 'b', 'c'], bytes: 4096, strategy: multi, buffers: undefined },
    options: { load: 'incast', loadBytes, roundTrips: 4 },
  });

test.each([
  ['large', 2 ** 22],
  ['of one message', 3000],
])('a victim hears of every piece of its answers and of a load that is %s', (_, loadBytes) => {
  const turns = turnsOf(loadBytes);
  const marks = turns.map((turn) => turn.marks!(situation));
  const times = new MarkedTimes({ turns, marks });
  for (const [index, turn] of turns.entries()) {
    const arrivals = turn
      .plan(situation)
      .steps.flatMap(({ kind }, step) => (kind === 'wait' ? [step] : []));
    const { steps } = times.options(index).marks!;
    expect([...steps].sort((a, b) => a - b)).toEqual(arrivals);
    expect(turn.marks!({ ...situation, rank: 1 })).toEqual([]);
  }
});

test('marks become samples where a turn says so, and a distribution of all ranks elsewhere', async () => {
  const [turn] = turnsOf(3000);
  const within = { samples: (own: Float64Array) => [own[1]! - own[0]!], none: '' };
  const marks = [
    { steps: [1], since: 0 },
    { steps: [2, 3], since: 5 },
  ];
  const times = new MarkedTimes({
    turns: [
      { ...turn!, within },
      { traffic: turn!.traffic, plan: turn!.plan, figureBytes: turn!.figureBytes },
    ],
    marks: [marks, marks],
  });
  for (const index of [0, 1]) {
    times.options(index).marks!.heard(Float64Array.of(10, 20, 35, 10, 60, 40));
  }
  const world = {
    size: 2,
    allgather: <T>(_: string, own: T) => Promise.resolve([own, own]),
    gather: <T>(_: string, own: T) => Promise.resolve([own, own]),
  };
  const iterations = [0, 1].map((rank) => [0, 1].map((one) => Float64Array.of(100 * rank + one)));
  const [samples, distribution] = (await times.gather(world, iterations, 4))!;
  expect(samples).toEqual({ batch: 1, byRank: [Float64Array.of(20, 45)] });
  expect(distribution).toMatchObject({
    batch: 4,
    byRank: [[1], [101]].map((one) => Float64Array.from(one)),
  });
  expect(distribution!.marks!.count).toBe(8);
});
