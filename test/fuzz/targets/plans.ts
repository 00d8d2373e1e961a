import { isWeftError } from '../../../src/errors.js';
import { isNativeFault } from '../../../src/native/addon.js';
import { type EncodedPlan, encodePlan } from '../../../src/plan/encode.js';
import { type Plan, planVersion, type Step } from '../../../src/plan/plan.js';
import { RanksInProcess } from '../../engine/ranks-in-process.js';
import type { Dice } from '../dice.js';
import { oddNumber } from '../mutate.js';
import type { Target } from '../target.js';

const bytes = 65_536;
const parts = [0, 1, 2].map((i) => ({ local: i * 4096, remote: i * 8192, bytes: 1000 + i }));
const all = parts.reduce((sum, part) => sum + part.bytes, 0);
const self = { channel: 0, peer: 0, after: [] } as const;
const local = { buffer: 'source', offset: 0, bytes: all } as const;

/** Of one rank that is its own peer: whatever it does, nobody else is needed. */
const steps: readonly Step[][] = [
  [
    { kind: 'post', op: 'write', ...self, local, remote: { offset: 0 }, slot: 0, parts },
    {
      ...{ kind: 'wait', source: 0, slot: 0, after: [], offset: 0, bytes: all },
      parts: parts.map(({ remote, bytes: own }) => ({ offset: remote, bytes: own })),
    },
  ],
  [
    { kind: 'post', op: 'write', ...self, local, remote: { offset: 64 }, slot: 1 },
    { kind: 'wait', source: 0, slot: 1, after: [], offset: 64, bytes: all },
    { kind: 'join', after: [0, 1] },
  ],
  [
    { kind: 'post', op: 'recv', ...self, local: { ...local, buffer: 'target' } },
    { kind: 'post', op: 'send', ...self, local },
    { kind: 'join', after: [0, 1] },
  ],
  [
    {
      ...{ kind: 'sum', dtype: 'float32', after: [] },
      parts: [{ into: 0, bytes: 64, from: [{ buffer: 'source', offset: 0 }] }],
    },
    {
      ...{ kind: 'sum', dtype: 'bfloat16', after: [0] },
      parts: [{ into: 128, bytes: 64, from: [{ buffer: 'target', offset: 256, weight: 0.5 }] }],
    },
  ],
] as Step[][];

const planOf = (own: readonly Step[]): Plan => ({
  ...{ version: planVersion, rank: 0, world: 1, channels: 2, chunkBytes: 512, window: 4 },
  ...{ delivery: 'complete', sourceBytes: bytes, targetBytes: bytes, steps: own },
});

const fields = ['header', 'steps', 'after', 'parts'] as const;

function broken(dice: Dice): EncodedPlan {
  const plan = { ...encodePlan(planOf(dice.pick(steps))) };
  for (let count = 1 + dice.length(5); count > 0; count--) {
    const field = dice.pick(fields);
    const array = plan[field].slice();
    if (array.length > 0) array[dice.below(array.length)] = oddNumber(dice);
    const [from, to] = [dice.length(array.length), array.length - dice.length(array.length)];
    const cut = dice.chance(0.1) ? array.slice(from, to) : array;
    (plan as Record<string, unknown>)[field] = cut;
  }
  return plan;
}

/** What else a job says; plans are run once where nothing else is said. */
function brokenJob(dice: Dice): object {
  const keys = [
    'iterations',
    'batch',
    'spinsBeforeYield',
    'source',
    'target',
    'silenceMs',
    'marks',
    'remotes',
    'readable',
  ];
  if (dice.chance(0.8)) return {};
  const key = dice.pick(keys);
  const some = Array.from({ length: dice.length(5) }, () => oddNumber(dice));
  if (key === 'marks') return { marks: Uint32Array.from(some) };
  // The one rank's own buffers have the numbers 0 and 1.
  if (/^re/.test(key))
    return { [key]: some.map((one) => (dice.chance(0.7) ? dice.below(2) : one)) };
  return { [key]: oddNumber(dice) };
}

let ranks: RanksInProcess;
const open = () =>
  RanksInProcess.open({ ranks: 1, provider: 'shm', channels: 2, bytes, staged: false });

export const plans: Target = {
  name: 'plans',
  share: 50,
  open: async () => {
    ranks = await open();
    return () => ranks[Symbol.asyncDispose]();
  },
  make: (dice) => {
    const [plan, job] = [broken(dice), brokenJob(dice)];
    return {
      shown: JSON.stringify({ plan, job }, (_, value) =>
        ArrayBuffer.isView(value) ? Array.from(value as Float64Array, String) : value,
      ),
      run: async () => {
        const { native } = ranks.fabrics[0]!.port;
        // A day of waiting, or 2^53 iterations, can be asked for: then it must be possible to end it.
        const timer = setTimeout(() => native.abort(), 20);
        try {
          await ranks.runEncoded(0, plan, { timeoutMs: 5, ...job });
        } catch (error) {
          // After a plan that was begun and did not end, a fabric runs no other.
          if (!/^plan: /.test((error as Error).message)) {
            await ranks[Symbol.asyncDispose]();
            ranks = await open();
          }
          throw error;
        } finally {
          clearTimeout(timer);
        }
      },
      isRefusal: (error) =>
        isWeftError(error) || isNativeFault(error) || error instanceof TypeError,
    };
  },
};
