import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { failedGate } from '../../src/cli/gate-failure.js';
import { WeftError } from '../../src/errors.js';
import { UnfitRanks } from '../../src/session/unfit-ranks.js';
import { AbsentRanks, identify } from '../../src/world/index.js';
import { Desk } from '../benchmarks/weft.js';

const desk = new Desk();
afterAll(() => desk[Symbol.dispose]());

describe('the gate on one machine', () => {
  test('a node that never joined has a line of its own', async () => {
    const env = { WEFT_NODES: '127.0.0.1,other', WEFT_NODE: '127.0.0.1', WEFT_JOB: 'alone' };
    const line = 'gate --timeout 1 --quiet --metrics gate.prom --node-patch nodes.json';
    const { exitCode, stdout, stderr } = await desk.weft(line, env);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^127.0.0.1 {2}unmeasured {2}not measured: other never joined\nother {6}fail {8}never joined within \d+\.?\d* s$/,
    );
    expect(stderr).toContain('1 of 2 ranks joined');
    const metrics = readFileSync(join(desk.folder, 'gate.prom'), 'utf8');
    expect(metrics).toContain('weft_gate_node_grade{node="other"} 2\n');
    const patches = JSON.parse(readFileSync(join(desk.folder, 'nodes.json'), 'utf8'));
    expect(patches).toMatchObject({ kind: 'List', items: [{}, { metadata: { name: 'other' } }] });
    // The first node also reports those that never joined, so that a prolog can drain them.
    const own = await desk.weft('gate --own --timeout 1 --quiet --node-patch own.json', env);
    expect(own.stdout.split('\n')).toHaveLength(2);
    // Its patch is of the own node only, as kubectl applies it to one.
    const patch = JSON.parse(readFileSync(join(desk.folder, 'own.json'), 'utf8'));
    expect(patch).toMatchObject({ kind: 'Node', metadata: { name: '127.0.0.1' } });
  });

  test('a first node that never joined is reported by the second', async () => {
    // Of a range for documentation: nobody answers there.
    const env = { WEFT_NODES: '198.51.100.1,other', WEFT_NODE: 'other', WEFT_JOB: 'headless' };
    const { exitCode, stdout } = await desk.weft('gate --own --timeout 1 --quiet', env);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^198.51.100.1 {2}fail {8}never joined within .* s\nother {9}unmeasured {2}not measured: 198.51.100.1 never/,
    );
  });

  test('a first node that answers, but not with a gate, is not to blame', () => {
    const nodes = { WEFT_NODES: 'n[1-2]', WEFT_NODE: 'n2', WEFT_JOB: '7' };
    const gradesAfter = (code: string) => {
      const cause = new AbsentRanks([0], Object.assign(new Error(code), { code }));
      const error = new WeftError('RENDEZVOUS_FAILED', 'rank 0 cannot be reached', { cause });
      return failedGate(error, identify(nodes), 1).gate.nodes.map(({ grade }) => grade);
    };
    expect(gradesAfter('ECONNREFUSED')).toEqual(['unmeasured', 'unmeasured']);
    expect(gradesAfter('EHOSTUNREACH')).toEqual(['fail', 'unmeasured']);
  });

  test('nodes that lack what the job needs are to blame, unless all do', () => {
    const nodes = { WEFT_NODES: 'n[1-3]', WEFT_NODE: 'n2', WEFT_JOB: '7' };
    const failed = (...ranks: number[]) => {
      const cause = new UnfitRanks(ranks);
      const error = new WeftError('NO_PROVIDER', 'efa is missing on n3', { cause });
      return failedGate(error, identify(nodes), 1);
    };
    expect(failed(2)).toMatchObject({ own: 'n2', absent: [], speaker: 0, unfit: [2] });
    expect(failed(2).gate.nodes).toMatchObject([
      { node: 'n1', grade: 'unmeasured', reason: 'not measured: efa is missing on n3' },
      { node: 'n2', grade: 'unmeasured' },
      { node: 'n3', grade: 'fail', reason: 'efa is missing on n3' },
    ]);
    expect(failed(0, 1, 2)).toMatchObject({ unfit: [], gate: { grade: 'unmeasured' } });
  });

  test('one node alone has nothing to measure, which is no failure of the node', async () => {
    const env = { WEFT_NODES: 'here', WEFT_NODE: 'here', WEFT_JOB: 'one' };
    const { exitCode, stderr } = await desk.weft('gate --own', env);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('only one node');
  });

  test.each([
    ['a command', 'gate -- true {nodes}', '--isolate'],
    ['tries', 'gate --tries 3', '--tries has no effect without --isolate'],
    ['no {nodes}', 'gate --isolate --nodes a,b -- true', 'does not contain {nodes}'],
    ['own', 'gate --isolate --own', '--own has no effect with --isolate'],
    ['a patch', 'gate --isolate --node-patch x', '--node-patch has no effect with --isolate'],
    [
      'the gate’s options for a command',
      'gate --isolate --min-gbps 1 --nodes a,b -- true {nodes}',
      '--min-gbps has no effect on the command after --',
    ],
    [
      'more time than timers have',
      'gate --isolate --nodes a,b --try-timeout 30d -- true {nodes}',
      'It must be at most a week',
    ],
    ['no nodes', 'gate --isolate -- true {nodes}', 'needs a list of nodes'],
  ])('%s: refused as bad usage', async (_, line, words) => {
    const { exitCode, stderr } = await desk.weft(line);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe('--isolate without a command', () => {
  test('passes on what the gate needs to meet', async () => {
    writeFileSync(join(desk.folder, 'srun'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const env = { SLURM_JOB_ID: '1', PATH: `${desk.folder}:${process.env.PATH}` };
    const line = 'gate --isolate --nodes a,b --token-file t --iface mgmt --timeout 3 --format json';
    const { exitCode, stdout } = await desk.weft(line, env);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).command.join(' ')).toMatch(
      / gate --quiet --timeout 3 --iface mgmt --token-file t$/,
    );
  });
});

describe('--isolate with a command', () => {
  const isolate = async (script: string, more: string[] = []) => {
    const args = ['gate', '--isolate', '--nodes', 'n[1-6]', '--format', 'json', '--quiet', ...more];
    const { exitCode, stdout } = await desk.run([
      ...args,
      '--',
      'sh',
      '-c',
      script,
      'sh',
      '{nodes}',
    ]);
    return { exitCode, found: JSON.parse(String(stdout)) };
  };

  test('a hang counts as a failure and is ended', async () => {
    const script = 'case $1 in *n2*) sleep 60 & wait;; esac';
    const { exitCode, found } = await isolate(script, ['--try-timeout', '0.3s']);
    expect(exitCode).toBe(4);
    expect(found.culprits).toMatchObject([{ kind: 'alone', blamed: ['n2'] }]);
    expect(found.tries[0]).toMatchObject({ outcome: 'hung', signal: 'SIGTERM' });
    expect(found.healthy).toEqual(['n1', 'n3', 'n4', 'n5', 'n6']);
  });

  test('Ctrl-C ends the command, also one that ignores SIGINT, and the record says when', async () => {
    const script = 'trap "" INT; trap "touch ended; exit" TERM; touch begun; sleep 60 & wait';
    const words = ['gate', '--isolate', '--nodes', 'n[1-2]', '--out', 'stopped.json', '--'];
    const started = desk.run([...words, 'sh', '-c', script, 'sh', '{nodes}']);
    while (!existsSync(join(desk.folder, 'begun'))) await sleep(20);
    started.kill('SIGINT');
    const { exitCode, stderr } = await started;
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('stopped by SIGINT'),
    });
    expect(existsSync(join(desk.folder, 'ended'))).toBe(true);
    const record = JSON.parse(readFileSync(join(desk.folder, 'stopped.json'), 'utf8'));
    expect(record).toMatchObject({ tries: [], endedAt: expect.any(String) });
  });

  test('stops when the tries are used up, with what is known', async () => {
    const script = 'case $1 in *n2*n5*) echo broken; exit 7;; esac';
    const { exitCode, found } = await isolate(script, ['--tries', '2']);
    expect(exitCode).toBe(1);
    expect(found).toMatchObject({ outcome: 'partly', triesAllowed: 2 });
    expect(found.tries[0]).toMatchObject({ outcome: 'failed', exitCode: 7, output: 'broken' });
  });
});

describe('nodes without a launcher', () => {
  const env = { WEFT_NODES: 'n[1-3]', WEFT_NODE: 'n2', WEFT_JOB: '7' };

  test('the place in the list is the rank, and all agree on the port', () => {
    const identity = identify({ ...env, SLURM_JOB_ID: '7', SLURM_NTASKS: '3' });
    expect(identity).toMatchObject({
      ...{ launcher: 'nodes', rank: 1, size: 3, masterHost: 'n1', oneHost: false },
      expectedHosts: ['n1', 'n2', 'n3'],
    });
    expect(identify({ ...env, WEFT_NODE: 'n3' }).ports).toEqual(identity.ports);
    expect(identify({ ...env, WEFT_JOB: '8' }).ports).not.toEqual(identity.ports);
  });

  test.each([{ WEFT_NODE: 'n9' }, { WEFT_JOB: undefined }, { WEFT_NODES: 'n2,n2' }])(
    'half of it is a conflict: %j',
    (broken) => {
      expect(() => identify({ ...env, ...broken })).toThrow(/WEFT_NODES/);
    },
  );
});
