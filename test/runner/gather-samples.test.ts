import { expect, test, vi } from 'vitest';
import { gatherSamples } from '../../src/runner/gather-samples.js';
import { openRanks } from '../world/ranks-in-process.js';

const turns = 3;
const perTurn = 7;
const samplesOf = (rank: number) =>
  Array.from({ length: turns }, (_, turn) =>
    Float64Array.from({ length: perTurn }, (_, i) => rank * 1000 + turn * 100 + i),
  );

test.each([
  ['in one piece', 1000, 1],
  ['in pieces that end within a turn', 30, 3],
  ['one by one', 1, 21],
])('%s', async (_, most, pieces) => {
  await using ranks = await openRanks(3);
  const gathers = vi.spyOn(ranks.worlds[0]!, 'gather');
  const all = await Promise.all(
    ranks.worlds.map((world) => gatherSamples(world, samplesOf(world.rank), perTurn, most)),
  );
  expect(all).toEqual([[0, 1, 2].map(samplesOf), undefined, undefined]);
  expect(gathers).toHaveBeenCalledTimes(pieces);
});

test('ranks without samples have none', async () => {
  await using ranks = await openRanks(2);
  const [root] = await Promise.all(
    ranks.worlds.map((world) => {
      const own = world.rank === 0 ? samplesOf(0) : samplesOf(1).map(() => new Float64Array());
      return gatherSamples(world, own, perTurn, 8);
    }),
  );
  expect(root).toEqual([samplesOf(0), samplesOf(1).map(() => new Float64Array())]);
});

test('of more samples than one exchange takes, with the pieces of a real run', async () => {
  await using ranks = await openRanks(2);
  const gathers = vi.spyOn(ranks.worlds[0]!, 'gather');
  const many = 2_500_000;
  const own = (rank: number) => Float64Array.from({ length: many }, (_, i) => rank * many + i);
  const [root] = await Promise.all(
    ranks.worlds.map((world) => gatherSamples(world, [own(world.rank)], many)),
  );
  // The largest piece there is: of two ranks, each has half of an exchange.
  expect(gathers).toHaveBeenCalledTimes(2);
  for (const rank of [0, 1])
    expect(Buffer.from(root![rank]![0]!.buffer).equals(Buffer.from(own(rank).buffer))).toBe(true);
});
