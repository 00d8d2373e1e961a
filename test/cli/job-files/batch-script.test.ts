import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { batchScript } from '../../../src/cli/job-files/batch-script.js';
import {
  k8sOptions,
  refuseTooManyRanks,
  sbatchOptions,
} from '../../../src/cli/job-files/options.js';
import { readOptions } from '../../../src/cli/options.js';
import { shellWords } from '../../../src/cli/shell-words.js';
import { Desk } from '../../benchmarks/weft.js';

const print = (flags: object, ...command: string[]) =>
  batchScript({ ...readOptions(flags, sbatchOptions), nodes: 4, weft: ['weft'] }, command);
const srun = (script: string) => shellWords(script.trimEnd().split('\n').at(-1)!);

describe('a batch script', () => {
  test('runs in a container that sees the results folder', () => {
    const flags = { containerImage: 'registry#weft:1', containerMounts: '/fsx', folder: '/out' };
    expect(srun(print(flags, 'all2all'))).toEqual([
      ...['srun', '--kill-on-bad-exit=1', '--cpu-bind=none'],
      '--container-image=registry#weft:1',
      '--container-mounts=/fsx,/out:/out',
      '--container-workdir=/out',
      ...['weft', 'all2all'],
    ]);
  });

  test('keeps words with blanks and quotes together', () => {
    const words = ['run', "it's here.mjs", '--columns', 'a b'];
    expect(srun(print({}, ...words)).slice(-4)).toEqual(words);
  });

  test('writes times as Slurm reads them', () => {
    expect(print({ time: 30 * 3_600_000 + 61_500 })).toContain('#SBATCH --time=30:01:02\n');
  });

  test('makes a token of its own in every job', () => {
    const [line = ''] = /^export WEFT_TOKEN.*$/m.exec(print({})) ?? [];
    const token = () => execFileSync('bash', ['-c', `${line}; echo $WEFT_TOKEN`]).toString();
    expect(token()).toMatch(/^[0-9a-f]{64}\n$/);
    expect(token()).not.toBe(token());
  });
});

describe('bad usage', () => {
  test.each([
    ['sbatch -- write', '--nodes is missing'],
    ['k8s --nodes 2 --image i -- wrote', 'weft has no command "wrote"'],
    ['sbatch --nodes 2 --container-mounts /a -- write', 'no effect without --container-image'],
  ])('%s', async (line, message) => {
    using desk = new Desk();
    const { exitCode, stderr } = await desk.weft(line);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });

  test.each([
    ['name', 'Weft', /lower-case letters/],
    ['hugePageBytes', '3M', /multiple of 2M/],
    ['results', 'host:out', /absolute path/],
    ['results', 'nfs:x', /pvc:NAME/],
    ['resources', 'rdma/hca', /NAME=COUNT/],
    ['nodeSelector', 'pool', /KEY=VALUE/],
    ['namespace', 'two words', /lower-case letters/],
  ] as const)('%s %s', (key, value, message) => {
    expect(() => k8sOptions[key].kind.parse(value)).toThrowError(message);
  });

  test.each(['name', 'partition', 'account', 'folder'] as const)(
    'a line break in the %s, after which bash would run the rest',
    (key) => {
      const { parse } = sbatchOptions[key].kind;
      expect(parse('/two words')).toBe('/two words');
      expect(() => parse('/a\ntouch /b')).toThrowError(/line breaks/);
    },
  );

  test('more ranks than Weft supports', () => {
    expect(() => refuseTooManyRanks(9999, 8)).toThrowError(/9999 nodes × 8 ranks/);
  });
});
