import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodePlan } from '../../src/plan/encode.js';
import type { Step } from '../../src/plan/plan.js';
import { RanksInProcess } from '../engine/ranks-in-process.js';
import { bytes, planOf, readOf, scatteredParts, waitOf, writeOf } from './plan-steps.js';

describe('a wrong plan', () => {
  let ranks: RanksInProcess;
  beforeAll(async () => {
    ranks = await RanksInProcess.open({ ranks: 2, provider: 'shm', channels: 1, bytes });
  });
  afterAll(() => ranks[Symbol.asyncDispose]());

  const good = () => ({
    write: encodePlan(planOf(0, [writeOf(0, scatteredParts(3))])),
    wait: encodePlan(planOf(0, [waitOf(0, scatteredParts(3))])),
    sum: encodePlan(
      planOf(0, [
        {
          ...{ kind: 'sum', dtype: 'float32', after: [] },
          parts: [
            {
              into: 0,
              bytes: 64,
              from: [
                { buffer: 'target', offset: 64 },
                { buffer: 'source', offset: 0 },
              ],
            },
          ],
        },
      ]),
    ),
  });
  const change = (
    of: keyof ReturnType<typeof good>,
    array: 'steps' | 'parts',
    index: number,
    to: number,
  ) => {
    const plan = good()[of];
    plan[array][index] = to;
    return plan;
  };

  test.each([
    [
      'a part outside the buffer',
      change('write', 'parts', 0, bytes),
      'a part of a step is outside',
    ],
    [
      'a part that is too long',
      change('write', 'parts', 2, 2 ** 52),
      'a part of a step is outside',
    ],
    ['a part of half a byte', change('write', 'parts', 2, 0.5), 'malformed'],
    ['parts outside the array', change('write', 'steps', 12, 4), 'malformed'],
    ['parts before the array', change('write', 'steps', 11, -1), 'malformed'],
    ['fewer bytes than its parts', change('write', 'steps', 5, 7), 'longer than the step'],
    ['more bytes than its parts', change('wait', 'steps', 5, 2 ** 50), 'shorter than the step'],
    [
      'a wait outside the buffer',
      change('wait', 'parts', 0, bytes + 1),
      'a part of a step is outside',
    ],
    ['an unknown dtype', change('sum', 'steps', 1, 4), 'unknown dtype'],
    ['a sum outside the buffer', change('sum', 'parts', 0, bytes), 'a part of a sum is outside'],
    ['a sum across numbers', change('sum', 'parts', 1, 62), 'between two numbers'],
    ['a sum of nothing', change('sum', 'parts', 2, 0), 'nothing to add'],
    ['a sum of too much', change('sum', 'parts', 2, 3), 'malformed'],
    ['a sum from an unknown buffer', change('sum', 'parts', 3, 2), 'a part of a sum is outside'],
    ['a sum over its addend', change('sum', 'parts', 4, 32), 'overlaps what it adds'],
    ['an unknown step', change('sum', 'steps', 0, 8), 'malformed'],
    ['a sum without parts', change('sum', 'steps', 12, 0), 'no parts'],
  ])('with %s is refused', async (_, plan, message) => {
    await expect(ranks.runEncoded(0, plan)).rejects.toThrow(message);
  });

  test('with too many parts is refused', async () => {
    const plan = good().write;
    const parts = new Float64Array(3 * (2 ** 20 + 1));
    plan.steps[12] = 2 ** 20 + 1;
    await expect(ranks.runEncoded(0, { ...plan, parts })).rejects.toThrow(
      'more than 1048576 parts',
    );
  });

  test('with a step after a later one is refused', async () => {
    const plan = encodePlan(
      planOf(0, [
        { kind: 'join', after: [] },
        { kind: 'join', after: [0] },
      ]),
    );
    plan.after[0] = 1;
    await expect(ranks.runEncoded(0, plan)).rejects.toThrow('not earlier');
  });

  test('with weights of int32 is refused', async () => {
    const plan = change('sum', 'parts', 5, 2);
    plan.steps[1] = 3;
    await expect(ranks.runEncoded(0, plan)).rejects.toThrow('int32 has weights');
  });

  test('that reads is refused where ranks did not exchange their source buffers', async () => {
    const plan = encodePlan(planOf(0, [readOf(1, scatteredParts(2))]));
    const refused = ranks.runEncoded(0, plan, { readable: undefined } as object);
    await expect(refused).rejects.toThrow('did not exchange their source buffers');
  });

  test('with any wrong number is refused or harmless', async () => {
    await using alone = await RanksInProcess.open({
      ranks: 1,
      provider: 'shm',
      channels: 1,
      bytes,
    });
    const values = [-1, 0.5, NaN, Infinity, 7, 2 ** 31, 2 ** 32, 2 ** 52, 2 ** 53, 2 ** 64, 1e300];
    for (const kind of ['write', 'wait', 'sum'] as const) {
      for (const array of ['steps', 'parts'] as const) {
        for (let i = 0; i < good()[kind][array].length; i++) {
          for (const value of values) {
            const plan = change(kind, array, i, value);
            plan.header[2] = 1; // a world of its own
            const iterations = kind === 'sum' ? 1 : 0;
            // Some places take any number: remote offsets, weights, and fields that the kind does not use.
            await alone
              .runEncoded(0, plan, { iterations })
              .catch((error: Error) =>
                expect(error.message).toMatch(/a step|a part|the part|a sum|malformed/),
              );
          }
        }
      }
    }
  });

  test('of a million joins in a row runs', async () => {
    const joins = Array.from(
      { length: 1_000_000 },
      (_, i): Step => ({ kind: 'join', after: i === 0 ? [] : [i - 1] }),
    );
    await ranks.run((rank) => planOf(rank, rank === 0 ? joins : []));
  });
});
