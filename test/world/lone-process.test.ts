import { describe, expect, test } from 'vitest';
import { type Environment, identify } from '../../src/world/identity.js';
import { batchScript, openmpi, salloc, step, torchrun } from './launcher-environments.js';

describe('a world of one where more were meant', () => {
  test.each<[string, Environment, RegExp]>([
    ['a batch script without srun', batchScript, /4 tasks.*srun did not start this process/],
    ['an salloc shell without srun', salloc, /4 tasks.*srun did not start this process/],
    [
      'a torchrun of its own in every task',
      { ...step(2, 4), ...torchrun(0, 1) },
      /srun started 4 processes, but torchrun puts them in separate worlds of 1/,
    ],
    [
      'an mpirun of its own in every task',
      { ...step(2, 4), ...openmpi(0, 1) },
      /srun started 4 processes/,
    ],
    ['another MPI', { MV2_COMM_WORLD_RANK: '1', MV2_COMM_WORLD_SIZE: '2' }, /MVAPICH/],
    ['PMIx without Open MPI', { PMIX_RANK: '1', PMIX_NAMESPACE: 'prterun-1' }, /PMIx/],
    ['PMI without a rank', { PMI_FD: '5' }, /PMI launcher/],
  ])('%s', (_, env, message) => {
    expect(() => identify(env)).toThrowError(
      expect.objectContaining({
        code: 'LAUNCHER_CONFLICT',
        message: expect.stringMatching(message),
      }),
    );
  });

  test('local ranks that were asked for inside an allocation are intended', () => {
    expect(identify(salloc, { ranks: 4 })).toMatchObject({ launcher: 'single', size: 1 });
  });
});
