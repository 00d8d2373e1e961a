import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireNccl } from '../../src/peers/nccl.js';
import { Unavailable } from '../../src/peers/peer.js';
import type { Run } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';
import { buildStandIn } from '../gpu/stand-in.js';

/** Why NCCL cannot be tested for real here. */
function whyNoNccl(): string | undefined {
  try {
    requireNccl();
    return undefined;
  } catch (error) {
    if (error instanceof Unavailable) return error.message;
    throw error;
  }
}

const reason = whyNoNccl();
const one = 'all-to-all-single --backend nccl --ranks 1 --msg-bytes 1M';
const rowOf = (stdout: string) => (JSON.parse(stdout) as Run).rows[0]!;

/** What holds with NCCL itself and with its stand-in. */
function suite(envOf: () => Record<string, string>, skipped: string | undefined) {
  test.for(['float32', 'int32', 'int64'])(
    'one rank runs and verifies: %s',
    async (dtype, { skip }) => {
      skip(skipped !== undefined, skipped);
      using desk = new Desk();
      const line = `${one} --dtype ${dtype} --iters 3 --format json`;
      const { exitCode, stdout, stderr } = await desk.weft(line, envOf());
      expect(exitCode, stderr).toBe(0);
      expect(stderr).toMatch(/Rank 0: Using CUDA device 0/);
      const row = rowOf(stdout);
      expect(row).toMatchObject({ column: 'nccl', outcome: 'passed' });
      // Which way NCCL took is not known.
      expect(row.labels.memory).toBeUndefined();
      expect(row.checked).toEqual({ bytes: 4 * 2 ** 20, wrong: 0 });
    },
  );

  test('two ranks on one GPU: NCCL’s refusal, explained', async ({ skip }) => {
    skip(skipped !== undefined, skipped);
    using desk = new Desk();
    const env = { CUDA_VISIBLE_DEVICES: '0', ...envOf() };
    const line = 'all-to-all-single --backend nccl,fabric --msg-bytes 64K --quiet';
    const { exitCode, stdout } = await desk.weft(line, env);
    expect(exitCode).toBe(1);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/FAILED nccl: .*Duplicate GPU detected/);
    expect(text).toMatch(/NCCL needs one GPU per rank/);
    expect(text).toMatch(/fabric +\d/);
  });
}

describe('NCCL on a GPU', () => suite(() => ({}), reason));

describe('NCCL’s stand-in', () => {
  let folder: string;
  let cuda: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'weft-nccl-'));
    cuda = buildStandIn();
    const source = fileURLToPath(new URL('stand-in/nccl.cc', import.meta.url));
    for (const [name, define] of [
      ['new', '-DWITH_ALLTOALL'],
      ['old', '-DWITHOUT'],
    ] as const) {
      const out = join(folder, `${name}.so`);
      execFileSync('g++', ['-O1', '-shared', '-fPIC', define, '-o', out, source]);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const env = (name = 'new') => ({ WEFT_LIBCUDA: cuda, WEFT_NCCL: join(folder, `${name}.so`) });

  suite(env, undefined);

  test('ranks take the GPUs that were asked for', async () => {
    using desk = new Desk();
    const two = { ...env(), STAND_IN_GPUS: '2' };
    const { exitCode, stdout, stderr } = await desk.weft(`${one} --gpu 1 --format json`, two);
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toMatch(/Rank 0: Using CUDA device 1/);
    expect(rowOf(stdout).outcome).toBe('passed');
    const none = await desk.weft(`${one} --gpu 2`, two);
    expect(none.exitCode, none.stderr).toBe(2);
  });

  test('an NCCL without ncclAlltoAll sends and receives in a group', async () => {
    using desk = new Desk();
    const { exitCode, stdout, stderr } = await desk.weft(`${one} --format json`, env('old'));
    expect(exitCode, stderr).toBe(0);
    expect(rowOf(stdout).outcome).toBe('passed');
  });

  test('an exchange that moved nothing does not pass', async () => {
    using desk = new Desk();
    const broken = { ...env(), STAND_IN_NCCL: 'nothing' };
    const { exitCode, stdout } = await desk.weft(`${one} --format json --quiet`, broken);
    expect(exitCode).toBe(1);
    expect(rowOf(stdout).checked).toMatchObject({ bytes: 2 * 2 ** 20 });
    expect(rowOf(stdout).checked.wrong).toBeGreaterThan(2 ** 20);
  });

  test('it is the default where every rank has a GPU and NCCL', async () => {
    using desk = new Desk();
    const line = 'all-to-all-single --msg-bytes 64K --format json --quiet';
    expect(rowOf((await desk.weft(line, env())).stdout).column).toBe('nccl');
    const without = { ...env(), WEFT_NCCL: '/nowhere/libnccl.so.2' };
    expect(rowOf((await desk.weft(line, without)).stdout).column).toBe('fabric');
  });

  test('where it is missing it is skipped aloud, with the way to get it', async () => {
    using desk = new Desk();
    const without = { ...env(), WEFT_NCCL: '/nowhere/libnccl.so.2' };
    const { exitCode, stdout } = await desk.weft(`${one} --quiet`, without);
    expect(exitCode).toBe(3);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /skipped nccl: NCCL could not be loaded .*libnccl2/,
    );
  });
});
