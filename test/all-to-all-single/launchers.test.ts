import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/results/schema.js';
import {
  missing,
  run,
  start,
  torchrunAlone,
  torchrunArgs,
  torchrunTimeoutMs,
} from '../ranks/processes.js';
import { TwoHosts, whyNoHosts } from '../ranks/two-hosts.js';

const weft = resolve(import.meta.dirname, '../../bin/weft');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-collective-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const command = (backends: string, ...more: string[]) => [
  ...[process.execPath, weft, 'all-to-all-single', '--msg-bytes', '64K', '--backend', backends],
  ...['--format', 'json', '--out', join(folder, `${files++}.jsonl`), ...more],
];

const outcomes = (stdout: string, stderr = '') => {
  expect(stdout, stderr).not.toBe('');
  const { rows } = JSON.parse(stdout) as Run;
  return Object.fromEntries(rows.map((row) => [row.column, row.outcome]));
};

describe('MPI is that of the launcher', () => {
  test.each([
    ['Open MPI', 'mpirun.openmpi', ['--allow-run-as-root', '--oversubscribe'], /Open MPI v/],
    ['MPICH', 'mpiexec.hydra', [], /MPICH/],
  ] as const)('%s', async (_, launcher, args, version) => {
    const all = [...args, '-n', '3', ...command('mpi,fabric,gloo')];
    const { stdout, stderr, code } = await run(launcher, all);
    expect(code, stderr).toBe(0);
    expect(outcomes(stdout)).toEqual({ mpi: 'passed', fabric: 'passed', gloo: 'passed' });
    const { settings } = JSON.parse(stdout) as Run;
    expect((settings.versions as Record<string, string>).mpi).toMatch(version);
  });

  test.each([
    ['exits with 7', 'process.exitCode = 7', 'exited with code 7'],
    [
      'is killed by SIGABRT',
      'process.abort()',
      'exited with code 134 (a rank was killed by SIGABRT)',
    ],
  ])('a rank that %s after its work is told', async (_, end, how) => {
    const silent = join(folder, 'silent.cjs');
    writeFileSync(
      silent,
      `process.on('exit', () => { if (process.env.OMPI_COMM_WORLD_RANK === '1') ${end}; });\n`,
    );
    const env = { NODE_OPTIONS: `--require ${silent}` };
    const [node = '', ...args] = command('mpi,fabric', '--ranks', '2');
    const { code, stderr } = await run(node, args, { env });
    expect(code).toBe(1);
    expect(stderr).toContain(` ${how}, and no rank reported an error`);
  });

  test('MPICH exchanges blocks of different sizes', async () => {
    const all = ['-n', '3', ...command('mpi,gloo', '--imbalance', 'zipf:2', '--dtype', 'int64')];
    const { stdout, stderr } = await run('mpiexec.hydra', all);
    expect(outcomes(stdout, stderr), stderr).toEqual({ mpi: 'passed', gloo: 'passed' });
  });
});

describe('torchrun', () => {
  const reason = missing({ torchrun: 'python3-torch' });

  test(
    'the script’s command line; mpi is skipped, with the way to have it',
    async ({ skip }) => {
      skip(reason !== undefined, reason);
      const args = [...torchrunAlone, '--nproc_per_node=2', ...torchrunArgs];
      const all = [...args, ...command('fabric,gloo,mpi')];
      const { stdout, stderr } = await run('torchrun', all, { timeoutMs: torchrunTimeoutMs });
      expect(outcomes(stdout, stderr), stderr).toEqual({
        fabric: 'passed',
        gloo: 'passed',
        mpi: 'skipped',
      });
      expect(stdout).toMatch(
        /torchrun started the ranks, but MPI needs its own launcher: use mpirun/,
      );
    },
    torchrunTimeoutMs,
  );
});

describe('ranks of a launcher on one host', () => {
  let port = 20_000 + (process.pid % 10_000);

  /** Two ranks, each in a folder of its own. */
  function launch(...args: string[]) {
    const address = { MASTER_ADDR: 'localhost', MASTER_PORT: `${port++}` };
    const ranks = ['0', '1'].map((rank) => {
      const here = join(folder, rank);
      mkdirSync(here, { recursive: true });
      const words = ['-C', here, process.execPath, weft, 'all-to-all-single', ...args];
      const who = { RANK: rank, LOCAL_RANK: rank, GROUP_RANK: '0' };
      const env = { ...address, ...who, WORLD_SIZE: '2', LOCAL_WORLD_SIZE: '2' };
      return start('env', [...words, '--out', join(here, `${address.MASTER_PORT}.jsonl`)], { env })
        .finished;
    });
    return Promise.all(ranks);
  }

  test('half an element is bad usage here, too', async () => {
    for (const { code, stderr } of await launch('--msg-bytes', '1001')) {
      expect(code, stderr).toBe(2);
    }
  });

  test('rank 0 alone needs the matrix', async () => {
    mkdirSync(join(folder, '0'), { recursive: true });
    writeFileSync(join(folder, '0', 'only-here.csv'), '4,8\n12,16\n');
    const args = ['--matrix', 'only-here.csv', '--backend', 'fabric', '--format', 'json'];
    const [first, second] = await launch(...args);
    expect(second!.code, second!.stderr).toBe(0);
    expect(outcomes(first!.stdout, first!.stderr), first!.stderr).toEqual({ fabric: 'passed' });
  });
});

describe('two hosts', () => {
  const reason = missing({ ip: 'iproute2', unshare: 'util-linux' }) ?? whyNoHosts();
  let hosts: TwoHosts;
  beforeAll(() => {
    const file = join(folder, 'hosts');
    writeFileSync(file, '127.0.0.1 localhost\n10.99.0.1 node1\n10.99.0.2 node2\n');
    if (reason === undefined) hosts = new TwoHosts(file);
  });
  afterAll(() => hosts?.[Symbol.dispose]());

  /** One rank on each host, as the script's two-node example starts them. */
  async function launch(more: string[], env: NodeJS.ProcessEnv = {}) {
    const ranks = ([0, 1] as const).map((rank) => {
      const [enter = '', ...rest] = hosts.inside(rank);
      // A veth cable is faster than the 10 Gbps it claims.
      const asked = command('fabric,gloo', '--line-rate', '1000', ...more);
      return start(enter, [...rest, ...asked], {
        env: {
          RANK: `${rank}`,
          WORLD_SIZE: '2',
          LOCAL_RANK: '0',
          LOCAL_WORLD_SIZE: '1',
          GROUP_RANK: `${rank}`,
          MASTER_ADDR: rank === 0 ? 'localhost' : '10.99.0.1',
          MASTER_PORT: '12345',
          ...env,
        },
      }).finished;
    });
    return Promise.all(ranks);
  }

  test.for<[string, string[], NodeJS.ProcessEnv]>([
    ['--iface', ['--iface', 'cable'], {}],
    ['GLOO_SOCKET_IFNAME', [], { GLOO_SOCKET_IFNAME: 'cable' }],
    ['NCCL_SOCKET_IFNAME', [], { NCCL_SOCKET_IFNAME: 'cable' }],
    ['no interface named', [], {}],
  ])('the fabric and gloo meet over the cable: %s', async ([, more, env], { skip }) => {
    skip(reason !== undefined, reason);
    const [first, second] = await launch(more, env);
    expect(first!.code, `${first!.stderr}${second!.stderr}`).toBe(0);
    expect(outcomes(first!.stdout)).toEqual({ fabric: 'passed', gloo: 'passed' });
    const { world, fabric } = JSON.parse(first!.stdout) as Run;
    expect(world.hosts).toEqual(['node1', 'node2']);
    expect(fabric.channels).toMatchObject([{ nic: 'cable' }]);
    expect(second!.stderr).toMatch(/Rank 1: all_to_all_single completed in .* ms \[gloo\]/);
  });
});
