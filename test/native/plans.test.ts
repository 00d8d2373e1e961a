import { constants } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { type EncodedPlan, encodePlan } from '../../src/plan/encode.js';
import { allToAll } from '../../src/plan/patterns/all-to-all.js';
import { planVersion, type Step } from '../../src/plan/plan.js';
import { multi } from '../../src/plan/strategies.js';
import { RanksInProcess } from '../engine/ranks-in-process.js';

const bytes = 4096;
let job: RanksInProcess;
const open = () =>
  RanksInProcess.open({ ranks: 2, provider: 'shm', channels: 2, bytes: 4 * bytes });
beforeAll(async () => {
  job = await open();
});
afterAll(() => job[Symbol.asyncDispose]());

const good = (): EncodedPlan =>
  encodePlan(
    allToAll({
      world: 2,
      rank: 0,
      bytes,
      channels: 2,
      strategy: multi,
      chunkBytes: 512,
      window: 4,
    }),
  );
const run = (plan: unknown) => job.runEncoded(0, plan as EncodedPlan, { timeoutMs: 5 });

/** What no plan holds: a copy with one number of one field changed. */
function changed(field: 'header' | 'steps' | 'after', at: number, value: number): EncodedPlan {
  const plan = good();
  const array = plan[field].slice();
  array[at] = value;
  return { ...plan, [field]: array };
}

/** Without steps, ranks only meet in barriers. */
const planOf = (size: { world: number; channels: number }, steps: readonly Step[] = []) =>
  encodePlan({
    ...{ version: planVersion, rank: 0, ...size, chunkBytes: 512, window: 4 },
    ...{ delivery: 'complete', sourceBytes: bytes, targetBytes: bytes, steps },
  });

test.each([
  ['another version', changed('header', 0, 7)],
  ['a rank outside the world', changed('header', 1, 2)],
  ['more ranks than are connected', changed('header', 2, 3)],
  ['no channel', planOf({ world: 2, channels: 0 })],
  ['no channel and more ranks than are connected', planOf({ world: 3, channels: 0 })],
  ['more channels than are open', changed('header', 3, 3)],
  ['a window that no queue holds', changed('header', 4, 2 ** 32 - 1)],
  ['more steps than it lists', changed('header', 6, 2 ** 32 - 1)],
  ['an unknown kind of step', changed('steps', 0, 9)],
  ['half a channel', changed('steps', 1, 0.5)],
  ['a peer outside the world', changed('steps', 2, 2)],
  ['no number', changed('steps', 4, Number.NaN)],
  ['bytes behind the buffer', changed('steps', 5, 5 * bytes)],
  ['a slot beyond 16 bits', changed('steps', 7, 2 ** 16)],
  ['dependencies behind their list', changed('steps', 9, 1000)],
  ['an array of another type', { ...good(), steps: new Uint8Array(8) }],
  ['no array', { ...good(), after: {} }],
])('a plan with %s is refused', async (_, plan) => {
  await expect(run(plan)).rejects.toThrow(/^plan: /);
});

/** Of one rank, which waits for nobody. */
const joins = (count: number): EncodedPlan =>
  planOf(
    { world: 1, channels: 1 },
    Array.from({ length: count }, () => ({ kind: 'join', after: [] })),
  );

describe('one rank alone', () => {
  let alone: RanksInProcess;
  beforeEach(async () => {
    alone = await RanksInProcess.open({ ranks: 1, provider: 'shm', channels: 1, bytes });
  });
  afterEach(() => alone[Symbol.asyncDispose]());

  test('more samples than one array should hold are refused', async () => {
    const refused = alone.runEncoded(0, joins(1), { iterations: 2 ** 52 });
    await expect(refused).rejects.toThrow('plan: a measurement has at most 134217728 samples');
  });

  test('marks that no memory holds are a fault, whose fabric runs no other plan', async () => {
    // 2^64 numbers: as many as none, to a processor.
    const marks = Uint32Array.from({ length: 4096 }, (_, step) => step);
    const often = { iterations: 2 ** 52, batch: 2 ** 52, marks };
    await expect(alone.runEncoded(0, joins(4096), often)).rejects.toMatchObject({
      message: 'memory: there is not enough memory',
      cause: { operation: 'memory', code: constants.errno.ENOMEM },
    });
    await expect(alone.runEncoded(0, joins(1))).rejects.toThrow('open a new one');
  });

  test('a byte to flip outside the buffer is refused', async () => {
    const sabotage = { kind: 'flip', offset: 2 ** 40 } as const;
    await expect(alone.runEncoded(0, joins(1), { sabotage })).rejects.toThrow('outside its buffer');
  });
});

test('500 plans with random damage end in an error', async () => {
  const random = seededRandom(11);
  const odd = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 32, 2 ** 53, 1e300];
  for (let i = 0; i < 500; i++) {
    const field = (['header', 'steps', 'after'] as const)[Math.floor(random() * 3)]!;
    const length = good()[field].length;
    if (length === 0) continue;
    const at = Math.floor(random() * length);
    const value =
      random() < 0.5 ? odd[Math.floor(random() * odd.length)]! : Math.floor(random() * 20);
    const { message } = await run(changed(field, at, value)).then(
      () => new Error('ran'),
      (error: Error) => error,
    );
    if (message.startsWith('plan: ')) continue;
    // It is still a plan, and waits for the other rank, which runs nothing. A fabric runs no plan after that.
    expect(message).toMatch(/barrier/);
    await job[Symbol.asyncDispose]();
    job = await open();
  }
});
