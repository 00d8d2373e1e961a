import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Desk, withFault } from '../benchmarks/weft.js';

const timeout = 60_000;
const short = 'write --provider shm -b 4K -e 4K --columns SinglePin --budget-ms 5 --quiet';

/** One measured run in a desk of its own. */
async function deskWithRun(): Promise<Desk> {
  const desk = new Desk();
  expect(await desk.weft(`${short} --out run.jsonl`)).toMatchObject({ exitCode: 0 });
  return desk;
}

const expecting = (desk: Desk, gbps: number) =>
  writeFileSync(
    join(desk.folder, 'expect.yaml'),
    `expect: [{ benchmark: write, column: SinglePin, bytes: 4K, gbps: ${gbps} }]\n`,
  );

describe('a run that is there', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await deskWithRun();
    return () => desk[Symbol.dispose]();
  }, timeout);

  test('passes what it reaches, with exit code 0', { timeout }, async () => {
    expecting(desk, 0.000001);
    const { exitCode, stdout } = await desk.weft(
      'check --run run.jsonl --expect expect.yaml --all',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^verdict: PASS \(2 pass\)/);
    expect(stdout).toContain('write SinglePin 4K');
  });

  test('gives its verdict also where metrics cannot be written', { timeout }, async () => {
    expecting(desk, 0.000001);
    const line = 'check --run run.jsonl --expect expect.yaml --metrics no/such/weft.prom';
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(stdout).toContain('PASS');
    expect(stderr).toContain('cannot write no/such/weft.prom: its folder does not exist');
    expect(exitCode).toBe(2);
  });

  test('fails what it does not, with exit code 4 and metrics', { timeout }, async () => {
    expecting(desk, 1_000_000);
    const line = 'check --run run.jsonl --expect expect.yaml --format json --metrics weft.prom';
    const { exitCode, stdout } = await desk.weft(line);
    expect(exitCode).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ schema: 'weft.check/1', grade: 'fail' });
    const metrics = readFileSync(join(desk.folder, 'weft.prom'), 'utf8');
    expect(metrics).toContain('weft_check_grade 2\n');
    expect(metrics).toMatch(/weft_check_item_expected\{item="write SinglePin 4K".*\} 1000000\n/);
  });

  test('is held against a baseline', { timeout }, async () => {
    const line = 'check --run run.jsonl --baseline run.jsonl';
    const { exitCode, stdout } = await desk.weft(line);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('noise: unknown');
  });

  test.each([
    ['two sources', '--expect expect.yaml --machine p5'],
    ['a tolerance of nothing', '--tolerance 3'],
    ['a quick look at what is there', '--quick'],
    ['an unknown machine', '--machine p99'],
    ['a format it does not have', '--format csv'],
  ])('%s is refused as bad usage', { timeout }, async (_, options) => {
    expecting(desk, 1);
    expect((await desk.weft(`check --run run.jsonl ${options}`)).exitCode).toBe(2);
  });

  test('a known machine judges it by its shares of the line', { timeout }, async () => {
    const { stdout } = await desk.weft('check --run run.jsonl --machine p5 --all');
    expect(stdout).toContain('built-in figures for p5.48xlarge');
  });
});

describe('measuring', () => {
  test('measures what is expected, and every pair', { timeout }, async () => {
    using desk = new Desk();
    expecting(desk, 1_000_000);
    const line = 'check --ranks 2 --provider shm --quick --expect expect.yaml --format json';
    const { exitCode, stdout } = await desk.weft(line);
    expect(exitCode).toBe(4);
    const { items } = JSON.parse(stdout) as { items: { name: string; grade: string }[] };
    expect(items.find(({ name }) => name === 'write SinglePin 4K')?.grade).toBe('fail');
    expect(items.find(({ name }) => name === 'pairs data')?.grade).toBe('pass');
    expect(desk.runs().map(({ run }) => run.benchmark)).toEqual(['pairs', 'write']);
  });

  test('a baseline is measured again as it was', { timeout }, async () => {
    using desk = await deskWithRun();
    const line = 'check --baseline run.jsonl --tolerance 100000';
    const { exitCode } = await desk.weft(line);
    expect(exitCode).toBe(0);
    const run = desk.runs()[0]!.run;
    expect(run.settings).toMatchObject({ provider: 'shm', minBytes: 4096, maxBytes: 4096 });
    expect((await desk.weft('check --baseline run.jsonl --ranks 3')).exitCode).toBe(2);
  });

  test('a flipped byte is a failed verdict', { timeout }, async () => {
    using desk = new Desk();
    const line = 'check --ranks 2 --provider shm --quick';
    const { exitCode, stdout } = await desk.weft(line, withFault('flip:1'));
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/FAIL +pairs data/);
  });

  test('what cannot run leaves no old verdict in the metrics', { timeout }, async () => {
    using desk = new Desk();
    writeFileSync(join(desk.folder, 'weft.prom'), 'weft_check_grade 0\n');
    const line = 'check --ranks 2 --provider nosuch --quick --metrics weft.prom';
    expect((await desk.weft(line)).exitCode).toBe(3);
    expect(readFileSync(join(desk.folder, 'weft.prom'), 'utf8')).toContain('weft_check_grade 2');
  });
});
