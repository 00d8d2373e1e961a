import { describe, expect, test } from 'vitest';
import { runSchema } from '../../src/results/schema.js';
import { Desk } from './weft.js';

const quick = '-b 1K -e 64K -f 8 --budget-ms 20';

describe.each(['shm', 'tcp'])('over %s', (provider) => {
  test.each(['sendrecv', 'write', 'all2all'])(
    '%s checks every byte of every column',
    async (id) => {
      using desk = new Desk();
      const { exitCode, stdout } = await desk.weft(
        `${id} ${quick} --ranks 3 --channels 2 --provider ${provider} --format json`,
      );
      expect(exitCode).toBe(0);
      const run = runSchema.parse(JSON.parse(stdout));
      const measured = run.rows.filter((row) => row.bytes !== null && row.column.endsWith('Pin'));
      const pins = id === 'sendrecv' ? 1 : 3;
      expect(measured).toHaveLength(3 * pins);
      for (const row of measured) {
        expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
        expect(row.checked.bytes).toBeGreaterThanOrEqual(2 * 2 * row.bytes!);
        expect(row.samples).toHaveLength(row.iterations / row.batch);
      }
      expect(desk.runs()[0]?.run).toEqual(run);
    },
  );
});

test('columns in GPU memory are skipped with the reason', async () => {
  using desk = new Desk();
  const none = { WEFT_LIBCUDA: '/nowhere/libcuda.so.1' };
  const { exitCode, stdout } = await desk.weft('write --columns SingleDMA --format json', none);
  expect(exitCode).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    outcome: 'skipped',
    rows: [{ column: 'SingleDMA', outcome: 'skipped', reason: expect.stringContaining('GPU') }],
  });
});

test('the seed’s names for the columns of sendrecv are understood', async () => {
  using desk = new Desk();
  const { stdout } = await desk.weft(`sendrecv ${quick} --columns SingleHost --format csv`);
  expect(stdout).toContain('SinglePin');
});

test('-n decides the number of iterations', async () => {
  using desk = new Desk();
  const { stdout } = await desk.weft('write -b 1M -e 1M -n 7 --columns SinglePin --format json');
  expect(JSON.parse(stdout).rows[0]).toMatchObject({ iterations: 7, batch: 1 });
});

test('independent buffers go round the targets in every column', async () => {
  using desk = new Desk();
  const { stdout } = await desk.weft(
    'write -b 64K -e 64K --ranks 3 --buffers 4 --channels 2 --budget-ms 20 --format json',
  );
  const rows = runSchema
    .parse(JSON.parse(stdout))
    .rows.filter((row) => row.column.endsWith('Pin') && row.bytes !== null);
  expect(rows.map((row) => row.column)).toEqual(['SinglePin', 'MultiPin', 'RoundRobinPin']);
  for (const row of rows) expect(row.checked.bytes).toBe(2 * 4 * 65536);
});

test('a size that does not fit is skipped before allocation, with the sum', async () => {
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(
    'write -b 1M -e 1024G -f 1048576 --columns SinglePin --budget-ms 20 --format json',
  );
  expect(exitCode).toBe(0);
  const [fits, misfit] = JSON.parse(stdout).rows;
  expect(fits).toMatchObject({ bytes: 2 ** 20, outcome: 'passed' });
  expect(misfit).toMatchObject({
    bytes: 2 ** 40,
    outcome: 'skipped',
    reason: expect.stringMatching(/2 ranks on \S+ need 2T for buffers .* is free/),
  });
});

test('a line rate gives percentages, and a row above its bound fails', async () => {
  using desk = new Desk();
  const run = async (rate: number) => {
    const line = `write -b 4M -e 4M --columns SinglePin --budget-ms 50 --line-rate ${rate}`;
    const { exitCode, stdout } = await desk.weft(`${line} --format json`);
    return { exitCode, row: JSON.parse(stdout).rows[0] };
  };
  const possible = await run(100_000);
  expect(possible.exitCode).toBe(0);
  expect(possible.row.busbwPercent).toBeCloseTo(possible.row.gbps / 1000, 6);
  const impossible = await run(0.001);
  expect(impossible.exitCode).toBe(1);
  expect(impossible.row.reason).toMatch(/faster than the line/);
});

test('the suite runs a file and keeps one run each', async () => {
  using desk = new Desk();
  const { writeFileSync } = await import('node:fs');
  writeFileSync(
    `${desk.folder}/s.yaml`,
    'defaults: { minBytes: 4K, maxBytes: 4K, budgetMs: 10, provider: shm }\nruns:\n  - benchmark: sendrecv\n  - { benchmark: all2all, columns: [MultiPin], channels: 2 }\n',
  );
  const { exitCode, stdout } = await desk.weft('suite s.yaml --ranks 2');
  expect(exitCode).toBe(0);
  expect(desk.runs().map(({ run }) => run.benchmark)).toEqual(['sendrecv', 'all2all']);
  expect(stdout).toContain('weft-results/');
});
