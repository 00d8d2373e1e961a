import { describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import { runSchema } from '../../src/results/schema.js';
import { childrenOf, Desk, withFault } from './weft.js';

const quick = '-e 64K --budget-ms 20';

describe('weft pairs', () => {
  test.each([2, 3, 5])('%i ranks: every directed pair once, every byte checked', async (ranks) => {
    using desk = new Desk();
    const { exitCode, stdout } = await desk.weft(`pairs ${quick} --ranks ${ranks} --format json`);
    expect(exitCode).toBe(0);
    const run = runSchema.parse(JSON.parse(stdout));
    for (const column of ['Bandwidth', 'Latency']) {
      const rows = run.rows.filter((row) => row.column === column);
      const ways = rows.map(({ labels }) => `${labels.from} ${labels.to}`);
      expect(new Set(ways).size).toBe(ranks * (ranks - 1));
      expect(ways).toHaveLength(ranks * (ranks - 1));
      for (const row of rows) {
        expect(row).toMatchObject({ kind: 'pair', outcome: 'passed', checked: { wrong: 0 } });
        expect(row.checked.bytes).toBeGreaterThanOrEqual(2 * row.bytes!);
      }
    }
    expect(run.diagnosis).toMatchObject({ retested: true });
    expect(run.diagnosis?.pace).toHaveLength(ranks);
    expect(desk.runs()[0]?.run).toEqual(run);
  });

  test('each channel has a matrix of its own with --per-rail', async () => {
    using desk = new Desk();
    const line = `pairs ${quick} --ranks 3 --channels 2 --provider tcp --per-rail --format json`;
    const { exitCode, stdout } = await desk.weft(line);
    expect(exitCode).toBe(0);
    const rows = runSchema.parse(JSON.parse(stdout)).rows;
    const bandwidth = rows.filter((row) => row.column === 'Bandwidth');
    expect(new Set(bandwidth.map((row) => row.labels.rail)).size).toBe(2);
    expect(bandwidth).toHaveLength(2 * 6);
  });

  test('the table is a heat map with a verdict, csv and Markdown hold the same numbers', async () => {
    using desk = new Desk();
    const { stdout } = await desk.weft(`pairs ${quick} --ranks 3 --out run.jsonl`, { LC_ALL: 'C' });
    expect(stdout).toMatch(/from \\ to +\S+:0 +\S+:1 +\S+:2/);
    expect(stdout).toMatch(/^\S+:0 +- [#+.-] +[\d.]+ [#+.-] +[\d.]+$/m);
    expect(stdout).toMatch(/No slow pair found \(6 directed pairs measured\)|confidence/);
    expect(readRun(`${desk.folder}/run.jsonl`).run.rows).toHaveLength(12);
    const csv = await desk.weft(`pairs ${quick} --ranks 2 --format csv`);
    expect(csv.stdout.split('\r\n')[0]).toMatch(/from,to,.*rail,resent/);
    expect(csv.stdout).toMatch(/pairs,1,Latency,8/);
    const markdown = await desk.weft(`pairs ${quick} --ranks 2 --format markdown`);
    expect(markdown.stdout).toMatch(/\| +from \/ to \|/);
  });

  test('a flipped byte fails the rows of its rank, and no other', async () => {
    using desk = new Desk();
    const { exitCode, stdout } = await desk.weft(
      `pairs ${quick} --ranks 3 --format json`,
      withFault('flip:1:3'),
    );
    expect(exitCode).toBe(1);
    const run = runSchema.parse(JSON.parse(stdout));
    const bad = run.rows.filter((row) => row.outcome === 'failed');
    expect(bad.length).toBeGreaterThan(0);
    for (const { labels } of bad) expect([labels.from, labels.to]).toContain(1);
    expect(run.errors[0]).toMatchObject({ code: 'DATA_WRONG' });
  });

  test('a killed rank ends the job, and what was measured stays', async () => {
    using desk = new Desk();
    const job = desk.start('pairs --ranks 4 --budget-ms 2000');
    await desk.rowsIn(2);
    process.kill(childrenOf(job.pid!).at(-1)!, 'SIGKILL');
    const { exitCode, stderr } = await job;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/rank 3 was killed by SIGKILL/);
    const [read] = desk.runs();
    expect(read?.run.outcome).toBe('aborted');
    expect(read?.run.rows.length).toBeGreaterThanOrEqual(2);
  });

  test('what means nothing to it is refused', async () => {
    using desk = new Desk();
    expect((await desk.weft('pairs --ranks 1')).exitCode).toBe(2);
    expect((await desk.weft('pairs --buffers 3')).exitCode).toBe(2);
    const scope = await desk.weft('pairs --scope spine');
    expect(scope).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/--scope spine needs a network description/),
    });
    const repeated = await desk.weft('pairs --repeats 2');
    expect(repeated).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/no effect on pairs/),
    });
    const sizes = await desk.weft('pairs --columns Latency -f 4 -i 64K -w 0');
    expect(sizes.exitCode).toBe(2);
    expect(sizes.stderr).toMatch(/has no effect on pairs/);
  });
});
