import { describe, expect, test } from 'vitest';
import { type Environment, identify } from '../../src/world/identity.js';
import { openWorld } from '../../src/world/world.js';
import { indexed, openmpi, pytorchJob, torchrun, trainJob } from './launcher-environments.js';

describe('ranks in pods', () => {
  test('of an Indexed Job meet at pod 0', () => {
    expect(identify(indexed(2, 4))).toMatchObject({
      launcher: 'kubernetes',
      rank: 2,
      size: 4,
      localRank: 0,
      localSize: 1,
      hostIndex: 2,
      oneHost: false,
      startsRanks: false,
      masterHost: 'job-0.svc',
      ports: [29_500],
      expectedHosts: ['job-0', 'job-1', 'job-2', 'job-3'],
    });
  });

  test('several in one pod: the first process starts them, and each knows its place', () => {
    const env = indexed(1, 2, 4);
    expect(identify(env)).toMatchObject({ startsRanks: true, rank: 4, size: 8, localSize: 4 });
    const child = identify({ ...env, WEFT_LOCAL_RANK: '3', WEFT_LOCAL_SIZE: '4' });
    expect(child).toMatchObject({ startsRanks: false, rank: 7, localRank: 3, hostIndex: 1 });
    expect(child.expectedHosts).toEqual([...Array(4).fill('job-0'), ...Array(4).fill('job-1')]);
  });

  test('a program that was not started once per rank is told so', async () => {
    await expect(openWorld({ env: indexed(0, 2, 4) })).rejects.toMatchObject({
      code: 'LAUNCHER_CONFLICT',
      message: expect.stringMatching(/4 ranks, but they were not started/),
    });
  });

  test('of a JobSet with several jobs are numbered through', () => {
    const env = { ...indexed(1, 4, 2), JOBSET_JOB_INDEX: '1', JOBSET_REPLICAS: '2' };
    const who = identify({ ...env, JOBSET_RESTART_ATTEMPT: '0', WEFT_LOCAL_RANK: '1' });
    expect(who).toMatchObject({ rank: 7, size: 8, hostIndex: 3, expectedHosts: undefined });
    expect(identify({ ...env, JOBSET_RESTART_ATTEMPT: '1' }).jobId).not.toBe(who.jobId);
  });

  test('of a PyTorchJob and a TrainJob are those that torchrun would start', () => {
    const first = { launcher: 'kubernetes', size: 4, startsRanks: true };
    expect(identify(pytorchJob(1, 2, 2))).toMatchObject({ ...first, masterHost: 'job-master-0' });
    const env = { ...trainJob(1, 2, '2'), WEFT_LOCAL_RANK: '1' };
    expect(identify(env)).toMatchObject({ rank: 3, size: 4, masterHost: 'job-node-0-0.job' });
    expect(identify({ ...pytorchJob(1, 2, 2), WORLD_SIZE: '2' })).toMatchObject({ rank: 2 });
    expect(identify({ ...trainJob(0, 2, 'auto'), WEFT_RANKS_PER_POD: '1' }).size).toBe(2);
  });

  test.each<[string, Environment, string]>([
    ['torchrun', { ...trainJob(1, 2, '2'), ...torchrun(3, 4, 2) }, 'torchrun'],
    ['mpirun', { ...indexed(0, 2), ...openmpi(1, 2) }, 'openmpi'],
  ])('that %s started are its own', (_, env, launcher) => {
    expect(identify(env)).toMatchObject({ launcher });
  });
});

describe('pods that do not know their place', () => {
  test.each<[string, Environment, RegExp, RegExp]>([
    [
      'an Indexed Job alone',
      { JOB_COMPLETION_INDEX: '1' },
      /the number of pods is not set/,
      /WEFT_PODS/,
    ],
    ['a Job that is not indexed', { WEFT_PODS: '2' }, /JOB_COMPLETION_INDEX is not/, /Indexed/],
    ['an index too many', indexed(2, 2), /INDEX=2 is not below WEFT_PODS=2/, /completions/],
    [
      'jobs of different sizes',
      { ...indexed(0, 3), JOBSET_JOB_INDEX: '0', JOBSET_REPLICAS: '2' },
      /WEFT_PODS=3 is not a multiple of JOBSET_REPLICAS=2/,
      /./,
    ],
    [
      'a replica too many',
      { ...indexed(0, 4), JOBSET_JOB_INDEX: '2', JOBSET_REPLICAS: '2' },
      /JOBSET_JOB_INDEX=2 is not below/,
      /./,
    ],
    [
      'no name of pod 0',
      { ...indexed(0, 2), MASTER_ADDR: undefined, MASTER_PORT: undefined },
      /MASTER_ADDR and MASTER_PORT are not set/,
      /JOB-0\.SERVICE/,
    ],
    ['half a name', { ...indexed(0, 2), MASTER_PORT: undefined }, /MASTER_PORT is missing/, /./],
    [
      'a Service called master',
      { ...indexed(0, 2), MASTER_PORT: 'tcp://10.0.0.1:80' },
      /MASTER_PORT=tcp:\/\/10.0.0.1:80 is not a valid number/,
      /./,
    ],
    ['a PyTorchJob at odds', { ...pytorchJob(1, 2), RANK: '0' }, /RANK and WORLD_SIZE/, /./],
    ['an elastic one', { PET_NNODES: '1:4' }, /PET_NODE_RANK is not/, /torchrun/],
    ['as many ranks as it likes', trainJob(0, 2, 'auto'), /=auto is not a number/, /WEFT_RANKS/],
    ['the launcher of an MPIJob', { K_MPI_JOB_ROLE: 'launcher' }, /launcher pod/, /mpirun/],
  ])('%s', (_, env, message, hint) => {
    expect(() => identify(env)).toThrowError(
      expect.objectContaining({
        code: 'LAUNCHER_CONFLICT',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    );
  });

  test('local ranks that were asked for in a pod are intended', () => {
    expect(identify({ JOB_COMPLETION_INDEX: '1' }, { ranks: 2 }).launcher).toBe('single');
  });
});
