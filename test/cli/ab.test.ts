import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';

const short = 'write --provider shm -b 4K -e 4K -n 4 -w 1 --columns SinglePin';

describe('weft ab', () => {
  test('runs both sides in turns, compares them and keeps the runs', {
    timeout: 150_000,
  }, async () => {
    using desk = new Desk();
    const args = ['ab', '--rounds', '5', '--seed', '3', '--a', '', '--b', '--chunk 1K --window 1'];
    const all = [...args, '--out', 'both', '--format', 'json', '--', ...short.split(' ')];
    const { exitCode, stdout, stderr } = await desk.run(all);
    const said = JSON.parse(String(stdout));
    expect(stderr).toBe('');
    expect(said).toMatchObject({
      schema: 'weft.compare/2',
      method: 'in turns',
      noise: { from: 'blocks' },
      blocks: [5, 5],
      ab: { rounds: 5, seed: 3, stoppedEarly: false, folder: 'both' },
      rows: [
        { column: 'SinglePin', bytes: 4096, interval: [expect.any(Number), expect.any(Number)] },
      ],
    });
    expect(exitCode).toBe(said.rows[0].verdict === 'slower' ? 4 : 0);
    for (const side of ['a', 'b']) {
      expect(readdirSync(join(desk.folder, 'both', side))).toHaveLength(5);
    }
    const again = await desk.weft('compare both/a both/b --format json');
    expect(JSON.parse(again.stdout).rows).toEqual(said.rows);
    expect((await desk.run(all)).exitCode).toBe(2);
  });

  test('a side that cannot run ends it with what it said', async () => {
    using desk = new Desk();
    const line = 'ab --out both --seed 1 --b --provider=nothing --';
    const { exitCode, stderr, stdout } = await desk.weft(
      `${line} ${short.replace('--provider shm ', '')}`,
    );
    expect(stderr).toMatch(/^weft: B failed in round 1: weft: .*nothing/);
    expect(exitCode).not.toBe(0);
    expect(stdout).toBe('');
  });

  test('variables of the environment reach their side alone', async () => {
    using desk = new Desk();
    const args = ['ab', '--seed', '1', '--out', 'both', '--b', 'WEFT_LIBFABRIC=/nowhere.so', '--'];
    const { exitCode, stderr } = await desk.run([...args, ...short.split(' ')]);
    expect(String(stderr)).toMatch(/^weft: B failed in round 1: .*nowhere\.so/);
    expect(exitCode).toBe(3);
  });

  test('Ctrl-C ends it with what is there', { timeout: 150_000 }, async () => {
    using desk = new Desk();
    const started = desk.start(`ab --out both --seed 1 -- ${short}`);
    const second = [join(desk.folder, 'both/a/02.jsonl'), join(desk.folder, 'both/b/02.jsonl')];
    while (!second.some((file) => existsSync(file))) await new Promise((r) => setTimeout(r, 20));
    started.kill('SIGINT');
    const { exitCode, stdout, stderr } = await started;
    expect(String(stdout)).toMatch(/^write: /);
    expect(String(stderr)).toMatch(/interrupted in round \d+ of 10; compared the finished runs/);
    expect(exitCode).toBe(1);
  });

  test('stops early once every row is decided, and says so', { timeout: 150_000 }, async () => {
    using desk = new Desk();
    const large = short.replaceAll('4K', '1M').split(' ');
    const args = ['ab', '--rounds', '12', '--seed', '1', '--b', '--chunk 1K --window 1'];
    const { exitCode, stdout } = await desk.run([...args, '--out', 'both', '--', ...large]);
    expect(String(stdout)).toMatch(/^write: .* slower\n/);
    const [, rounds] = /stopped after (\d+) of 12 rounds because every row is decided/.exec(
      String(stdout).replaceAll('\n', ' '),
    )!;
    expect(Number(rounds)).toBeLessThan(12);
    expect(readdirSync(join(desk.folder, 'both', 'a'))).toHaveLength(Number(rounds));
    expect(exitCode).toBe(4);
  });

  test.each([
    { name: 'after a grace', signals: 1 },
    { name: 'at once on the second signal', signals: 2 },
  ])('a run that ignores SIGTERM is killed $name', { timeout: 60_000 }, async ({ signals }) => {
    using desk = new Desk();
    const launch = `sh -c 'trap : TERM; touch ready; while :; do sleep 0.2; done'`;
    const args = ['ab', '--out', 'both', '--seed', '1', '--launch', launch, '--', 'write'];
    const started = desk.run(args);
    while (!existsSync(join(desk.folder, 'ready'))) await new Promise((r) => setTimeout(r, 20));
    const killedMs = performance.now();
    for (let i = 0; i < signals; i++) {
      started.kill('SIGINT');
      await new Promise((r) => setTimeout(r, 200));
    }
    const { exitCode, stderr } = await started;
    expect(exitCode).toBe(1);
    expect(String(stderr)).toMatch(/interrupted in round 1 of 10$/);
    if (signals === 2) expect(performance.now() - killedMs).toBeLessThan(4_000);
  });

  test('a run that a signal ended is named by it', async () => {
    using desk = new Desk();
    const args = ['ab', '--out', 'both', '--seed', '1', '--launch', `sh -c 'kill -9 $$'`];
    const { exitCode, stderr } = await desk.run([...args, '--', 'write']);
    expect(String(stderr)).toMatch(/failed in round 1: killed by SIGKILL/);
    expect(exitCode).toBe(1);
  });

  test.each([
    ['ab -- suite', 'suite is not a benchmark'],
    ['ab --rounds 4 -- write', 'It must be a whole number, 5 or more'],
    ['ab -- write --out x.jsonl', 'the runs of weft ab do not take --out'],
    ["ab --a 'open -- write", 'unclosed quote'],
  ])('%s is refused', async (line, reason) => {
    using desk = new Desk();
    const refused = await desk.weft(line);
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(reason) });
  });

  test('as a rank of a launcher it is refused', async () => {
    using desk = new Desk();
    const env = { RANK: '0', WORLD_SIZE: '2', LOCAL_RANK: '0', LOCAL_WORLD_SIZE: '2' };
    const master = { MASTER_ADDR: '127.0.0.1', MASTER_PORT: '29511' };
    const { exitCode, stderr } = await desk.weft('ab -- write', { ...env, ...master });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("weft ab --launch 'srun -n 4'");
  });
});
