import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasShim } from '../../src/peers/shims.js';
import { runSchema } from '../../src/results/schema.js';
import { Desk, withFault } from './weft.js';

const small = 'moe --hidden 64 --experts 6 --top-k 3 --budget-ms 10';
const pins = ['Dispatch', 'Combine', 'Both'].flatMap((what) =>
  ['Single', 'Multi', 'RoundRobin'].map((how) => `${what}${how}Pin`),
);

describe.each([
  ['shm', ''],
  ['tcp', '--overlap --dtype fp8'],
])('over %s %s', (provider, more) => {
  test('every token arrives and every sum is right, in every column', async () => {
    using desk = new Desk();
    const { exitCode, stdout } = await desk.weft(
      `${small} ${more} --ranks 3 --channels 2 --tokens 9,40 --routing hot:1:0.7 ` +
        `--provider ${provider} --columns ${pins} --format json`,
    );
    expect(exitCode).toBe(0);
    const { rows, settings } = runSchema.parse(JSON.parse(stdout));
    expect(rows).toHaveLength(2 * pins.length);
    for (const row of rows) {
      expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
      const tokens = row.bytes! / (more.includes('fp8') ? 68 : 128);
      // Before and after, on every rank: the sums of all tokens, and what was dispatched.
      const both = 2 * row.routing!.bytesOut.reduce((sum, one) => sum + one, 0);
      const sums = 2 * 3 * tokens * 128;
      if (row.column.startsWith('Dispatch')) expect(row.checked.bytes).toBe(both);
      if (row.column.startsWith('Combine')) expect(row.checked.bytes).toBe(sums);
      if (row.column.startsWith('Both')) expect(row.checked.bytes).toBeGreaterThan(sums);
      expect(row.usefulGbps! / row.gbps!).toBeCloseTo(row.routing!.dedup, 5);
      expect(row.tokensPerSecond! * row.nanoseconds!.mean).toBeCloseTo(3 * tokens * 1e9, -6);
      expect(row.routing!.counts.flat().reduce((sum, one) => sum + one)).toBe(3 * 3 * tokens);
    }
    // One routing for each number of tokens, whatever the column.
    const hashes = [...new Set(rows.map((row) => row.routing!.hash))];
    expect(hashes).toHaveLength(2);
    for (const { bytes, routing } of rows)
      expect(routing!.hash).toBe(hashes[bytes === rows[0]!.bytes ? 0 : 1]);
    expect(settings.inputHash).toBe(hashes.join(' '));
  });
});

test('the default columns run at 4 ranks', async () => {
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(
    'moe --ranks 4 --tokens 4 --budget-ms 10 --format json',
  );
  expect(exitCode).toBe(0);
  const passed = runSchema.parse(JSON.parse(stdout)).rows.filter((row) => row.bytes !== null);
  const columns = passed.map((row) => row.column).filter((name) => name.endsWith('Pin'));
  expect(columns).toEqual(['DispatchMultiPin', 'CombineMultiPin', 'BothMultiPin']);
});

test.for([
  ['drop:1', 'DispatchSinglePin', /DispatchSinglePin .*: \d+ of \d+ bytes are wrong.* from rank 1/],
  ['drop:1', 'CombineSinglePin', /CombineSinglePin .*: \d+ of \d+ bytes are wrong.* of the sums/],
] as const)('what %s breaks fails %s', async ([fault, column, message]) => {
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(
    `${small} --ranks 2 --tokens 8 --columns ${column}`,
    withFault(fault),
  );
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(message);
});

test('other libraries move the same bytes, and pack and add as their users must', async ({
  skip,
}) => {
  skip(!hasShim('gloo'), 'gloo is not set up here');
  skip(!hasShim('openmpi') && !hasShim('mpich'), 'MPI is not set up here');
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(
    `${small} --ranks 3 --tokens 9 --routing zipf:1 --columns DispatchMultiPin,CombineMultiPin ` +
      '--against gloo,mpi --format json',
  );
  expect(exitCode, stdout).toBe(0);
  const { rows } = runSchema.parse(JSON.parse(stdout));
  const of = (column: string) => rows.filter((row) => row.column.startsWith(column));
  expect(of('Dispatch').map((row) => row.column)).toEqual([
    ...['DispatchMultiPin', 'Dispatch-gloo', 'Dispatch-mpi'],
  ]);
  for (const row of rows) expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
  expect(rows).toHaveLength(6);
  expect(new Set(rows.map(({ routing }) => routing!.hash)).size).toBe(1);
  const hashes = (['Dispatch', 'Combine'] as const).map((what) => {
    const peers = of(`${what}-`);
    for (const { against } of peers) {
      expect(against!.includes).toBe(what === 'Dispatch' ? 'packing' : 'weighted sum');
      const [ratio] = against!.ratios;
      expect(ratio!.ratio).toBeLessThanOrEqual(ratio!.callAlone!.ratio);
    }
    const all = peers.flatMap(({ against }) => [against!.moved, against!.ratios[0]!.moved]);
    expect(all).toHaveLength(4);
    expect(new Set(all).size).toBe(1);
    return all[0];
  });
  // What went one way comes back the other.
  expect(hashes[0]).not.toBe(hashes[1]);
});

test('a library without what it needs is skipped with the reason, and Weft is measured', async ({
  skip,
}) => {
  skip(existsSync('/dev/nvidiactl'), 'this machine has a GPU');
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(
    `${small} --ranks 2 --tokens 9 --columns DispatchMultiPin,CombineMultiPin --against nccl --format json`,
  );
  expect(exitCode).toBe(0);
  const { rows, outcome } = runSchema.parse(JSON.parse(stdout));
  expect(outcome).toBe('passed');
  const [nccl, ...own] = rows;
  expect(nccl).toMatchObject({
    ...{ column: 'nccl', outcome: 'skipped', bytes: null, nanoseconds: null },
    reason: expect.stringMatching(/^NCCL needs a GPU: this machine has no .* install its driver/),
  });
  expect(own.map(({ column }) => column)).toEqual(['DispatchMultiPin', 'CombineMultiPin']);
  for (const row of own) expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
});

test('a routing file decides tokens and experts, and must fit the ranks', async () => {
  using desk = new Desk();
  const lines = ['rank,token,experts', '0,0,5', '1,0,0;1', '1,1,5'];
  writeFileSync(join(desk.folder, 'trace.csv'), lines.join('\n'));
  const ask = (more: string) => desk.weft(`${small} --routing ./trace.csv ${more}`);
  const { exitCode, stdout } = await ask('--ranks 2 --columns DispatchMultiPin --format json');
  expect(exitCode).toBe(0);
  expect(runSchema.parse(JSON.parse(stdout)).rows[0]!.routing).toMatchObject({
    tokens: [1, 2],
    dedup: 3 / 2,
    bytesOut: [128, 128],
    counts: [
      [0, 0, 0, 0, 0, 1],
      [1, 1, 0, 0, 0, 1],
    ],
    hosts: [0, 0, 0, 1, 1, 1],
  });
  const three = await ask('--ranks 3');
  expect(three).toMatchObject({ exitCode: 2 });
  expect(three.stderr).toContain('trace.csv has the tokens of 2 ranks, but there are 3 ranks');
  const counted = await ask('--ranks 2 --tokens 4');
  expect(counted).toMatchObject({ exitCode: 2 });
  expect(counted.stderr).toContain('the routing file decides how many tokens there are');
});

test.for([
  ['--routing zipf', 'It must be zipf:S with S from 0 to 10.'],
  ['--routing skewed', 'It must be uniform, zipf:S, hot:N[:SHARE] or a file, such as ./routing.'],
  ['--routing none.csv', 'cannot read none.csv'],
  ['--top-k 9 --experts 8', '--top-k 9 is more than --experts 8'],
  ['--overlap --micro-batches 1', '--overlap needs at least 2 micro-batches'],
] as const)('%s is refused', async ([flags, message]) => {
  using desk = new Desk();
  const { exitCode, stderr } = await desk.weft(`moe ${flags} --explain`);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});
