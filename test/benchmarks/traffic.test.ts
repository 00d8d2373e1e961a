import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type Row, runSchema } from '../../src/results/schema.js';
import { Desk } from './weft.js';

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

/** What a row must show of an iteration that moves these bytes: ranks verify the first and the last. */
function expectBytes(row: Row, bytes: number): void {
  expect(row).toMatchObject({ outcome: 'passed', bytes, checked: { bytes: 2 * bytes, wrong: 0 } });
  expect(row.totalGbps! * row.nanoseconds!.mean).toBeCloseTo(8 * bytes, 3);
}

/** Three ranks; what they keep is not sent. */
const matrix = '# to 0, 1, 2\n8M,4K,1\n0,8M,3\n1000,2K,8M\n';
const matrixDesk = () => {
  const desk = new Desk();
  writeFileSync(join(desk.folder, 'm.csv'), matrix);
  return desk;
};

const example = (name: string) => resolve(import.meta.dirname, '../../examples/traffic', name);

/** Σ of the transfers of a list or trace, each scaled. */
const bytesIn = (name: string, scale: number) =>
  sum(
    [...readFileSync(example(name), 'utf8').matchAll(/(?:^\d,\d,|"bytes":)(\d+)/gm)].map(
      ([, bytes]) => Math.round(Number(bytes) * scale),
    ),
  );

test('the examples and a matrix run with the bytes they name, scaled, beside an idle rank', async () => {
  using desk = matrixDesk();
  const runs = [
    [example('kv-burst.jsonl'), 0.02],
    [example('moe-zipf.csv'), 0.01],
    ['m.csv', 1],
    ['m.csv', 3],
  ].map(([file, scale]) => `  - { benchmark: traffic, file: ${file}, scaleBytes: ${scale} }`);
  const defaults = 'defaults: { iterations: 2, columns: [MultiPin], channels: 2 }';
  writeFileSync(join(desk.folder, 's.yaml'), [defaults, 'runs:', ...runs].join('\n'));
  const { exitCode, stderr } = await desk.weft('suite s.yaml --ranks 4 --quiet');
  expect(exitCode, stderr).toBe(0);
  const rows = desk.runs().flatMap(({ run }) => run.rows);
  const moved = [
    bytesIn('kv-burst.jsonl', 0.02),
    bytesIn('moe-zipf.csv', 0.01),
    sum([4096, 1, 3, 1000, 2048]),
    3 * sum([4096, 1, 3, 1000, 2048]),
  ];
  expect(new Set(rows.map(({ bytes }) => bytes))).toEqual(new Set(moved));
  for (const row of rows) expectBytes(row, row.bytes!);
});

test('--scale-bytes leaves no transfer of a matrix empty that was not', async () => {
  using desk = matrixDesk();
  const { exitCode, stdout, stderr } = await desk.weft(
    'traffic m.csv --scale-bytes 0.25 -n 2 --columns SinglePin --format json',
  );
  expect(exitCode, stderr).toBe(0);
  const { rows, world } = runSchema.parse(JSON.parse(stdout));
  expect(world.ranks).toBe(3);
  expectBytes(rows[0]!, sum([1024, 1, 1, 250, 512]));
  // Rank 1 receives most.
  expect(rows[0]!.gbps! * rows[0]!.nanoseconds!.mean).toBeCloseTo(8 * (1024 + 512), 3);
});

test('fewer ranks than the file is for are refused', async () => {
  using desk = matrixDesk();
  const { exitCode, stderr } = await desk.weft('traffic m.csv --ranks 2');
  expect(exitCode).toBe(2);
  expect(stderr).toContain('m.csv is for 3 ranks, not 2');
  expect(stderr).toContain('Start 3 ranks or more.');
});
