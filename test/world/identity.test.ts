import { describe, expect, test } from 'vitest';
import { type Environment, identify } from '../../src/world/identity.js';
import {
  batchScript,
  local,
  mpich,
  openmpi,
  salloc,
  step,
  torchrun,
} from './launcher-environments.js';

const hydra = {
  ancestors: () => [
    { pid: 9, name: 'sh' },
    { pid: 7, name: 'hydra_pmi_proxy' },
  ],
};

describe('one launcher', () => {
  test('none', () => {
    expect(identify({})).toMatchObject({ launcher: 'single', rank: 0, size: 1, oneHost: true });
  });

  test('a local rank knows where to meet, and only rank 0 inherits the socket', () => {
    const place = { launcher: 'local', size: 4, masterHost: '::1', ports: [4711], oneHost: true };
    expect(identify(local(0))).toMatchObject({ ...place, rank: 0, listenFd: 4 });
    expect(identify(local(3))).toMatchObject({ ...place, rank: 3, listenFd: undefined });
  });

  test("torchrun whose agent holds the port: the next 16 are rank 0's", () => {
    const who = identify(torchrun(3, 4, 2));
    expect(who).toMatchObject({ launcher: 'torchrun', rank: 3, localRank: 1, hostIndex: 1 });
    expect(who).toMatchObject({ oneHost: false, masterHost: 'localhost' });
    expect(who.ports).toEqual(Array.from({ length: 16 }, (_, i) => 29_501 + i));
  });

  test('torchrun whose agent leaves the port free', () => {
    const who = identify({ ...torchrun(0, 2), TORCHELASTIC_USE_AGENT_STORE: 'False' });
    expect(who.ports[0]).toBe(29_500);
    expect(who).toMatchObject({ oneHost: true });
  });

  test('srun: hosts from the list, a port of its own', () => {
    const who = identify(step(3, 4));
    expect(who).toMatchObject({
      launcher: 'srun',
      rank: 3,
      localRank: 1,
      localSize: 2,
      hostIndex: 1,
    });
    expect(who.masterHost).toBe('node1');
    expect(who.expectedHosts).toEqual(['node1', 'node1', 'node2', 'node2']);
    expect(who.ports[0]).toBeGreaterThanOrEqual(20_000);
    expect(who.ports.at(-1)).toBeLessThan(30_000);
    expect(identify({ ...step(0, 4), SLURM_STEP_ID: '2' }).ports).not.toEqual(who.ports);
  });

  test('srun: MASTER_ADDR and MASTER_PORT win, also one of them', () => {
    expect(identify({ ...step(0, 4), MASTER_PORT: '1234' })).toMatchObject({
      masterHost: 'node1',
      ports: [1234],
    });
    expect(identify({ ...step(0, 4), MASTER_ADDR: 'ib0.node1' }).masterHost).toBe('ib0.node1');
  });

  test('srun: where ranks are is not guessed under another distribution', () => {
    expect(identify({ ...step(0, 4), SLURM_DISTRIBUTION: 'cyclic' }).expectedHosts).toBeUndefined();
  });

  test.each([
    ['Open MPI', openmpi(1, 2), 'openmpi'],
    ['MPICH', mpich(1, 2), 'mpich'],
  ])('%s on one host meets on a port of its own', (_, env, launcher) => {
    const who = identify(env, hydra);
    expect(who).toMatchObject({ launcher, rank: 1, size: 2, localRank: 1, oneHost: true });
    expect(who.ports).toHaveLength(17);
  });

  test('two MPICH jobs on one host have different ids', () => {
    const other = { ancestors: () => [{ pid: 8, name: 'hydra_pmi_proxy' }] };
    expect(identify(mpich(0, 2), hydra).jobId).not.toBe(identify(mpich(0, 2), other).jobId);
  });

  test.each([
    ['Open MPI', openmpi(1, 4, 2), { kind: 'pmix' }],
    ['MPICH', { ...mpich(1, 4, 2), PMI_FD: '6' }, { kind: 'pmi', fd: 6 }],
  ])('%s on several hosts learns from rank 0 where it is, unless it is told', (_, env, board) => {
    expect(identify(env)).toMatchObject({ board, oneHost: false });
    const given = { ...env, MASTER_ADDR: 'n1', MASTER_PORT: '4000' };
    expect(identify(given)).toMatchObject({ masterHost: 'n1', ports: [4000], oneHost: false });
    expect(identify(given).board).toBeUndefined();
  });

  test('MPICH on several hosts without PMI_FD says how to pass MASTER_ADDR on', () => {
    const hint = expect.stringMatching(/-genv MASTER_ADDR/);
    expect(() => identify({ ...mpich(1, 4, 2), PMI_FD: undefined })).toThrowError(
      expect.objectContaining({ code: 'LAUNCHER_CONFLICT', hint }),
    );
  });
});

describe('one launcher inside another', () => {
  test.each<[string, Environment, object]>([
    [
      'mpirun in an salloc shell',
      { ...salloc, ...openmpi(1, 4) },
      { launcher: 'openmpi', rank: 1 },
    ],
    [
      'mpiexec in a batch script',
      { ...batchScript, ...mpich(1, 4) },
      { launcher: 'mpich', rank: 1 },
    ],
    [
      "mpirun's daemons started by srun",
      { ...step(1, 2), ...openmpi(3, 4), MASTER_ADDR: 'n', MASTER_PORT: '1' },
      { launcher: 'openmpi', rank: 3 },
    ],
    [
      "hydra's proxies started by srun",
      { ...step(0, 1, 1), SLURM_NTASKS: '4', ...mpich(1, 2) },
      { launcher: 'mpich', rank: 1 },
    ],
    [
      'one torchrun per task of srun',
      { ...step(1, 2), ...torchrun(3, 4, 2) },
      { launcher: 'torchrun', rank: 3 },
    ],
    [
      'torchrun in a batch script',
      { ...batchScript, ...torchrun(1, 2) },
      { launcher: 'torchrun', rank: 1 },
    ],
    [
      'one torchrun per rank of mpirun',
      { ...openmpi(1, 2), ...torchrun(2, 4, 2) },
      { launcher: 'torchrun', rank: 2 },
    ],
    [
      'srun --mpi=pmi2',
      { ...step(1, 2), PMI_RANK: '1', PMI_SIZE: '2', PMI_JOBID: '5.1', PMI_FD: '3' },
      { launcher: 'srun', rank: 1 },
    ],
    [
      'srun --mpi=pmix',
      { ...step(1, 2), PMIX_RANK: '1', PMIX_NAMESPACE: 'slurm.5.1' },
      { launcher: 'srun', rank: 1 },
    ],
    [
      'ranks set by hand from Slurm',
      {
        ...step(1, 2),
        RANK: '1',
        WORLD_SIZE: '2',
        LOCAL_RANK: '0',
        LOCAL_WORLD_SIZE: '1',
        MASTER_ADDR: 'n',
        MASTER_PORT: '1',
      },
      { launcher: 'torchrun', rank: 1 },
    ],
    [
      'a batch script that exports WORLD_SIZE',
      { ...step(1, 2), WORLD_SIZE: '2' },
      { launcher: 'srun', rank: 1 },
    ],
    [
      'local ranks inside a step',
      { ...step(0, 1, 1), ...local(2) },
      { launcher: 'local', rank: 2 },
    ],
    ['a lone process in a step of one task', step(0, 1, 1), { launcher: 'srun', size: 1 }],
  ])('%s', (_, env, who) => {
    expect(identify(env, hydra)).toMatchObject(who);
  });
});

describe('half of an environment, and two that disagree', () => {
  test.each<[string, Environment, RegExp]>([
    ['RANK without WORLD_SIZE', { RANK: '1' }, /WORLD_SIZE is missing.*seen: RANK=1/],
    ['WORLD_SIZE without RANK', { WORLD_SIZE: '2' }, /RANK is missing/],
    [
      'no LOCAL_RANK',
      { RANK: '0', WORLD_SIZE: '2', MASTER_ADDR: 'a', MASTER_PORT: '1' },
      /LOCAL_RANK/,
    ],
    ['no MASTER_ADDR', { ...torchrun(0, 2), MASTER_ADDR: undefined }, /MASTER_ADDR is not/],
    ['no MASTER_PORT', { ...torchrun(0, 2), MASTER_PORT: undefined }, /MASTER_PORT is missing/],
    ['a rank beyond the size', torchrun(4, 4), /RANK=4 is not below WORLD_SIZE=4/],
    [
      'a rank that is no number',
      { ...openmpi(0, 2), OMPI_COMM_WORLD_RANK: 'x' },
      /not a valid number/,
    ],
    [
      'more local ranks than ranks',
      { ...mpich(0, 2), MPI_LOCALNRANKS: '3' },
      /more than the 2 ranks/,
    ],
    ['WEFT_RANK without its job', { WEFT_RANK: '0', WEFT_SIZE: '2' }, /WEFT_MASTER/],
    ['PMI_SIZE alone', { PMI_SIZE: '2' }, /PMI_RANK is missing/],
    [
      'ranks by hand against Slurm',
      { ...step(1, 4), RANK: '0', WORLD_SIZE: '4' },
      /torchrun says rank 0 of 4, srun says rank 1 of 4/,
    ],
    [
      'MPI against MPI',
      { ...openmpi(0, 2), ...mpich(1, 2) },
      /openmpi says rank 0.*mpich says rank 1/,
    ],
    ['nodes that do not fit', { ...step(0, 4), SLURM_STEP_NODELIST: 'node1' }, /do not match/],
  ])('%s', (_, env, message) => {
    expect(() => identify(env)).toThrowError(
      expect.objectContaining({
        code: 'LAUNCHER_CONFLICT',
        message: expect.stringMatching(message),
      }),
    );
  });

  test('WEFT_LAUNCHER decides', () => {
    const both = { ...openmpi(0, 2), ...mpich(1, 2) };
    expect(identify({ ...both, WEFT_LAUNCHER: 'mpich' }).rank).toBe(1);
    expect(identify({ ...both, WEFT_LAUNCHER: 'single' }).size).toBe(1);
    expect(() => identify({ WEFT_LAUNCHER: 'srun' })).toThrowError(
      /the variables of srun are not set/,
    );
    expect(() => identify({ WEFT_LAUNCHER: 'lsf' })).toThrowError(/not a launcher/);
  });
});
