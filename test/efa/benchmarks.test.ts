import { expect, test } from 'vitest';
import type { Row } from '../../src/results/schema.js';
import { Desk, type Ended } from '../benchmarks/weft.js';

const provider = process.env.WEFT_TEST_PROVIDERS ?? 'efa';
const timeout = 90_000;

/** What a command printed as JSON, after it ended well. */
async function measured(desk: Desk, line: string) {
  const { exitCode, stdout, stderr }: Ended = await desk.weft(
    `${line} --provider ${provider} --format json`,
  );
  expect(exitCode, stderr).toBe(0);
  const run = JSON.parse(stdout);
  expect(run.outcome).toBe('passed');
  expect(run.fabric).toMatchObject({ provider, emulated: true });
  const rows = (run.rows as Row[]).filter(({ outcome }) => outcome !== 'skipped'); // those that need a GPU
  return { ...run, rows } as { rows: Row[]; fabric: { channels: { nic: string }[] } };
}

const passed = (rows: readonly Row[]) => {
  for (const row of rows) {
    expect(row, `${row.column} ${row.bytes}: ${row.reason}`).toMatchObject({
      outcome: 'passed',
      checked: { wrong: 0 },
    });
  }
};

test.each([
  ['write --ranks 3 -b 4K -e 4M -f 32 -n 10', 9],
  ['write --ranks 2 -b 1M -e 1M -n 10 --buffers 3', 3],
  ['all2all --ranks 4 -b 64K -e 1M -f 16 -n 10', 6],
  ['sendrecv --ranks 2 -b 8 -e 8K -f 32 -n 20', 3],
  ['moe --ranks 2 --tokens 16 --hidden 512 -n 3 --columns DispatchMultiPin,CombineMultiPin', 2],
  ['moe --ranks 2 --tokens 16 --hidden 512 -n 3 --overlap --columns BothMultiPin', 1],
  ['kv --ranks 2 -b 16K -e 16K -n 3 --columns PushMultiPin,PullMultiPin', 2],
  ['allreduce --ranks 2 -b 256K -e 256K -n 3 --columns MultiPin', 1],
])('%s moves every byte over the devices', { timeout }, async (line, rows) => {
  using desk = new Desk();
  const run = await measured(desk, line);
  expect(run.rows).toHaveLength(rows);
  expect(run.fabric.channels).toHaveLength(4);
  passed(run.rows);
  for (const { path, column, bytes } of run.rows) {
    expect(path?.asPlanned, `${column} ${bytes}: ${path?.text}`).not.toBe(false);
  }
});

test('the bytes of a write are counted by the NICs that the strategy uses', {
  timeout,
}, async () => {
  using desk = new Desk();
  const run = await measured(desk, 'write --ranks 2 -b 4M -e 4M -n 8');
  for (const { path, column } of run.rows) {
    const used = path!.nics.filter(({ expectedTxBytes }) => expectedTxBytes > 0);
    expect(path).toMatchObject({ asPlanned: true });
    expect(used, column).toHaveLength(column === 'MultiPin' ? 4 : 1);
  }
});

test('pairs finds no slow pair', { timeout }, async () => {
  using desk = new Desk();
  const { exitCode, stdout, stderr } = await desk.weft(
    `pairs --ranks 3 --provider ${provider} --budget-ms 50 -e 256K`,
  );
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain('emulated');
});

test('all-to-all-single exchanges every element', { timeout }, async () => {
  using desk = new Desk();
  const { exitCode, stdout, stderr } = await desk.weft(
    `all-to-all-single --ranks 2 --msg-bytes 256K --iters 4 --backend fabric --provider ${provider} --format json`,
  );
  expect(exitCode, stderr).toBe(0);
  passed(JSON.parse(stdout).rows);
});

test('a proxy posts what producers ask for', { timeout }, async () => {
  using desk = new Desk();
  const run = await measured(desk, 'proxy --ranks 2 -b 64K -e 64K -n 4');
  passed(run.rows);
});

test('check judges the devices', { timeout }, async () => {
  using desk = new Desk();
  const { exitCode, stdout } = await desk.weft(`check --ranks 2 --quick --provider ${provider}`);
  expect([0, 4]).toContain(exitCode);
  expect(stdout).toContain('emulated');
});
