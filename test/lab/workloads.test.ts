import { expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { labName, whyNoLab } from './laboratory.js';

/** A busy machine may take half of the lab's rate, which it sets itself; less has another cause. */
const leastOfBound = 50;

test.runIf(whyNoLab() === undefined).each([
  ['incast -b 1M -e 1M', ['MultiPin']],
  [
    'moe --routing zipf:1.2 --tokens 64 --hidden 4096',
    ['DispatchMultiPin', 'CombineMultiPin', 'BothMultiPin'],
  ],
  ['kv -b 64K -e 64K', ['PushMultiPin', 'PullMultiPin']],
])('%s between hosts with several NICs', { timeout: 60_000 }, async (command, columns) => {
  using desk = new Desk();
  const { exitCode, stderr } = await desk.weft(
    `lab run --name ${labName('workloads')} --hosts 4 --nics 2 --rate 200mbit -- ` +
      `${command} -n 2 -w 1 --columns ${columns} --quiet`,
  );
  expect(exitCode, stderr).toBe(0);
  const [{ run } = expect.fail('no run file')] = desk.runs();
  const rows = run.rows.filter((row) => row.bytes !== null);
  expect(rows.map((row) => row.column)).toEqual(columns);
  for (const row of rows) {
    expect(row, row.reason).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
    expect(row.checked.bytes).toBeGreaterThan(0);
    expect(row.path, `${row.column}: ${row.path?.text}`).toMatchObject({ asPlanned: true });
    expect(row.ofBoundPercent).toBeGreaterThan(leastOfBound);
  }
});
