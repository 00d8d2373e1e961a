import { expect, test } from 'vitest';
import { agreedInput } from '../../src/runner/agree-on-inputs.js';
import type { Job } from '../../src/runner/job.js';
import type { World } from '../../src/world/world.js';

/** What rank `rank` gets when the ranks read these; `barrier` ends as soon as it is reached. */
const agree = (all: readonly (string | undefined)[], rank = 0) => {
  const inputHash = all[rank] === undefined ? {} : { inputHash: () => all[rank] };
  const benchmark = { id: 'traffic', turns: () => [], ...inputHash };
  const world = {
    ...{ rank, size: 3, hosts: ['a', 'b', 'c'] },
    allgather: () => Promise.resolve(all),
    barrier: () => Promise.reject(new Error('rank 0 failed')),
  };
  return agreedInput({ benchmark } as unknown as Job, world as unknown as World);
};

test('what all ranks read is recorded', async () => {
  await expect(agree(['1', '1', '1'])).resolves.toEqual({ inputHash: '1' });
  await expect(agree([])).resolves.toEqual({});
});

test('ranks that read different files are named, by rank 0 alone', async () => {
  const why = 'rank 2 (c) reads another file than rank 0 (a)';
  await expect(agree(['1', '1', '2'])).rejects.toThrow(why);
  await expect(agree(['1', '1', '2'], 1)).rejects.toThrow('rank 0 failed');
});

test('where most ranks agree, the odd one is named, be it rank 0', async () => {
  await expect(agree(['1', '2', '2'])).rejects.toThrow('rank 0 (a) reads another file than rank 1');
});

test('of many odd ranks the first is named, and the others counted', async () => {
  const why = 'rank 1 (b) and 1 more rank read another file than rank 0 (a)';
  await expect(agree(['1', '2', '3'])).rejects.toThrow(why);
});
