import { describe, expect, test } from 'vitest';
import { runSchema } from '../../src/results/schema.js';
import { Desk, withFault } from './weft.js';

const quick = '-b 1200 -e 614400 -f 512 --ranks 3 --channels 2 --budget-ms 20 --format json';

describe.each([
  ['allgather', 'tcp', 'ring', 2 / 3],
  ['reduce-scatter', 'shm', 'ring --dtype bfloat16', 2 / 3],
  ['allreduce', 'shm', 'direct', 4 / 3],
  ['allreduce', 'tcp', 'ring --dtype float16', 4 / 3],
  ['broadcast', 'shm', 'tree --root 2', 1],
])('%s over %s, %s', (id, provider, how, factor) => {
  test('checks every byte of every column and has nccl-tests’ figures', async () => {
    using desk = new Desk();
    const line = `${id} ${quick} --provider ${provider} --algorithm ${how}`;
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    const { rows } = runSchema.parse(JSON.parse(stdout));
    const measured = rows.filter((row) => row.bytes !== null && row.column.endsWith('Pin'));
    // One root sends the same way to all: a broadcast has no column with a channel for each peer.
    const columns = ['SinglePin', 'MultiPin', ...(id === 'broadcast' ? [] : ['RoundRobinPin'])];
    const expected = [1200, 614400].flatMap((bytes) => columns.map((name) => `${name} ${bytes}`));
    expect(measured.map(({ column, bytes }) => `${column} ${bytes}`)).toEqual(expected);
    // By all ranks, before and after: an allgather and a broadcast leave what a rank has already.
    const perRow = { allgather: 2, 'reduce-scatter': 1, allreduce: 3, broadcast: 2 }[id]!;
    for (const row of measured) {
      expect(row).toMatchObject({ outcome: 'passed', algorithm: how.split(' ')[0] });
      expect(row.checked).toEqual({ bytes: 2 * perRow * row.bytes!, wrong: 0 });
      expect(row.algbwGBps).toBeCloseTo(row.gbps! / 8, 9);
      expect(row.busbwGBps).toBeCloseTo(row.algbwGBps! * factor, 9);
    }
  });
});

const one = '-b 64K -e 64K --columns SinglePin --budget-ms 20';

test.each([
  ['allgather', 'byte 777 from rank 0'],
  ['allreduce', 'byte 777 of the sums'],
])('%s finds and names a flipped byte', async (id, named) => {
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(`${id} ${one}`, withFault('flip:1:777'));
  expect(exitCode).toBe(1);
  expect(stdout.replace(/\s+/g, ' ')).toMatch(new RegExp(`on rank 1, ${named} is 0x`));
});

test('settings that no collective can have are refused', async () => {
  using desk = new Desk();
  const refused = async (line: string) => {
    const { exitCode, stderr } = await desk.weft(line);
    expect(exitCode).toBe(2);
    return stderr;
  };
  expect(await refused('allreduce -b 6 -e 6')).toMatch(/6 bytes is not a whole number of float32/);
  expect(await refused('broadcast --root 2 --ranks 2')).toMatch(
    /--root is 2, but the ranks are 0 to 1/,
  );
  expect(await refused('allgather --algorithm tree')).toMatch(/auto, direct or ring/);
});

test('--format nccl names the type, the sum and the root', async () => {
  using desk = new Desk();
  const sums = await desk.weft(`reduce-scatter ${one} --dtype float16 --format nccl`);
  expect(sums.stdout).toMatch(/ 65536 +32768 +half +sum +-1 /);
  const sent = await desk.weft(`broadcast ${one} --root 1 --format nccl`);
  expect(sent.stdout).toMatch(/ 65536 +16384 +uint32 +none +1 /);
});

test('a row records the algorithm that auto chose for its size', async () => {
  using desk = new Desk();
  const line = 'broadcast -b 64K -e 1M -f 16 --columns SinglePin --budget-ms 20 --verbose';
  const { exitCode, stdout } = await desk.weft(line);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('algorithm: direct for 64K; ring for 1M');
});
