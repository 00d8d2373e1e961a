import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { writeManyRuns } from '../live/many-runs.js';
import { parseExposition } from '../results/exposition-parser.js';

const timeout = 60_000;

describe('weft history', () => {
  const desk = new Desk();
  const path = (name: string) => join(desk.folder, name);
  beforeAll(() => writeManyRuns(path('weft-results'), { runs: 40, rows: 6, samples: 5 }));
  afterAll(() => desk[Symbol.dispose]());

  test('shows what changed, when, and what else changed then', { timeout }, async () => {
    const { exitCode, stdout, stderr } = await desk.weft('history');
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('6 rows in 40 runs: 1 change, the latest on 2025-01-02');
    expect(stdout).toContain('also changed: libfabric 1.17 → 1.22');
    expect(stdout).toMatch(/MultiPin 4K +40 .* 1\.\d\d× slower on 2025-01-02/);
  });

  test('draws it, writes metrics, and prints JSON', { timeout }, async () => {
    const line = 'history weft-results --column MultiPin --format json -o h.svg --metrics h.prom';
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ schema: 'weft.history/1', rows: [{}, {}] });
    expect(readFileSync(path('h.svg'), 'utf8')).toContain('Speed over time: write');
    const metrics = parseExposition(readFileSync(path('h.prom'), 'utf8'));
    expect(metrics.filter(({ name }) => name === 'weft_history_runs')).toHaveLength(2);
    expect((await desk.weft('history -o h.html --since 2025-01-01')).exitCode).toBe(0);
    const html = readFileSync(path('h.html'), 'utf8');
    expect(html).toContain('1.50× slower');
    expect(html).toContain('data-chart="history"');
  });

  test.each([
    ['history nowhere', 2, 'nowhere does not exist'],
    [
      'history --since tomorrow',
      2,
      'It must be a date such as 2026-10-01, or a time span such as 90m',
    ],
    ['history --since 1h30m', 1, 'no measured row in 40 runs'],
    ['history -o h.png', 2, 'does not end in .svg or .html'],
    ['history --benchmark all2all', 1, 'The folder has runs of write'],
    ['history weft-results/..', 1, 'contains no run files'],
  ])('%s exits with %i', { timeout }, async (line, code, message) => {
    const { exitCode, stderr } = await desk.weft(line);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(code);
  });
});

describe('--metrics', () => {
  const passed = (desk: Desk) =>
    parseExposition(readFileSync(join(desk.folder, 'weft.prom'), 'utf8'));

  test('of a benchmark has its rows', { timeout }, async () => {
    using desk = new Desk();
    const line = 'write --provider shm -b 4K -e 8K -n 10 --columns SinglePin --metrics weft.prom';
    const { exitCode, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    const rows = passed(desk).filter(({ name }) => name === 'weft_row_passed');
    expect(rows).toMatchObject([
      { value: 1, labels: { benchmark: 'write', size_bytes: '4096', ranks: '2', provider: 'shm' } },
      { value: 1, labels: { size_bytes: '8192' } },
    ]);
  });

  test('of a suite has all its runs, and its CSV one line of heads', { timeout }, async () => {
    using desk = new Desk();
    const runs = ['write', 'sendrecv'].map(
      (name) =>
        `  - { benchmark: ${name}, provider: shm, minBytes: 4096, maxBytes: 4096, iterations: 5, columns: [${name === 'write' ? 'SinglePin' : 'SingleHost'}] }`,
    );
    writeFileSync(join(desk.folder, 'suite.yaml'), `runs:\n${runs.join('\n')}\n`);
    const { exitCode, stdout, stderr } = await desk.weft(
      'suite suite.yaml --format csv --metrics weft.prom',
    );
    expect(exitCode, stderr).toBe(0);
    expect(
      stdout
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(',')[0]),
    ).toEqual(['benchmark', 'write', 'sendrecv']);
    const rows = passed(desk).filter(({ name }) => name === 'weft_row_passed');
    expect(rows.map(({ labels }) => labels.benchmark)).toEqual(['write', 'sendrecv']);
  });

  test('of a benchmark that cannot run says so', { timeout }, async () => {
    using desk = new Desk();
    const line = 'write --provider tcp --nics nosuch --metrics weft.prom';
    writeFileSync(join(desk.folder, 'weft.prom'), 'weft_run_passed{benchmark="write"} 1\n');
    expect((await desk.weft(line)).exitCode).not.toBe(0);
    expect(passed(desk)[0]).toMatchObject({
      name: 'weft_run_passed',
      labels: { benchmark: 'write' },
      value: 0,
    });
  });
});
