import { describe, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { labName, whyNoLab } from './laboratory.js';

const lab = `lab run --name ${labName('ratios')} --hosts 4 --nics 4 --rate 100mbit --`;
/** The lab sets the rate itself, so these are ratios; a busy machine may take this share of them. */
const slack = 0.85;

describe.runIf(whyNoLab() === undefined)('the shape of the reference tables', () => {
  test('of write: one NIC, four, and three of four', async () => {
    using desk = new Desk();
    const { exitCode } = await desk.weft(`${lab} write -b 2M -e 2M -n 2 -w 1 --quiet`);
    expect(exitCode).toBe(0);
    const busbw = percents(desk);
    expect(busbw.SinglePin).toBeGreaterThan(97 * slack);
    expect(busbw.MultiPin).toBeGreaterThan(95 * slack);
    expect(busbw.RoundRobinPin).toBeGreaterThan(72 * slack);
    expect(busbw.RoundRobinPin).toBeLessThan(76);
  });

  test('of all2all: most of what the plan allows', async () => {
    using desk = new Desk();
    const line = `${lab} all2all -b 2M -e 2M -n 2 -w 1 --columns MultiPin --quiet`;
    expect((await desk.weft(line)).exitCode).toBe(0);
    const row = desk.runs()[0]?.run.rows.find((one) => one.column === 'MultiPin');
    expect(row?.ofBoundPercent).toBeGreaterThan(90 * slack);
  });
});

/** `busbw %` of the measured columns. */
const percents = (desk: Desk): Record<string, number> =>
  Object.fromEntries(
    desk.runs().flatMap(({ run }) => run.rows.map((row) => [row.column, row.busbwPercent ?? 0])),
  );
