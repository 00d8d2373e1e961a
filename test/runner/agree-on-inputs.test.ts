import { expect, test } from 'vitest';
import { agreeOnInputs } from '../../src/runner/agree-on-inputs.js';
import type { PlanJob } from '../../src/runner/job.js';
import type { World } from '../../src/world/world.js';

const agree = (own: string | undefined, all: readonly string[]) => {
  const job = { benchmark: { id: 'traffic', inputs: () => own } } as unknown as PlanJob;
  const world = { hosts: ['a', 'b', 'c'], allgather: () => Promise.resolve(all) };
  return agreeOnInputs(job, world as unknown as World);
};

test('ranks that read the same files go on', async () => {
  await expect(agree('1', ['1', '1', '1'])).resolves.toBeUndefined();
  await expect(agree(undefined, [])).resolves.toBeUndefined();
});

test('ranks that read different files are named', async () => {
  await expect(agree('1', ['1', '1', '2'])).rejects.toThrow(
    'rank 0 (a) and rank 2 (c) read different files',
  );
});
