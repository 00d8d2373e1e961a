import { describe, expect, test } from 'vitest';
import { judge } from '../../src/analysis/verdict/judge.js';
import type { Item } from '../../src/analysis/verdict/verdict.js';
import { expectedOn } from '../../src/cli/expected.js';
import { machineByName } from '../../src/reference/machines.js';
import { p5FabricAt } from '../../src/reference/p5-fabric.js';
import type { Row, Run } from '../../src/results/schema.js';
import { exchangeRow, M, p5Run, writeRow } from './normal/runs.js';

const world = (nodes: number, ranks = nodes): Run['world'] => ({
  ranks,
  hosts: Array.from({ length: nodes }, (_, i) => `node-${i}`),
  launcher: 'srun',
  facts: { machine: 'p5.48xlarge' },
});
const exchangeOf = (row: Row, nodes: number): Run =>
  p5Run([row], {
    benchmark: 'all2all',
    world: world(nodes),
    settings: { minBytes: row.bytes!, maxBytes: row.bytes!, stepFactor: 2 },
  });

/** The items of rows that were judged by their rate. */
function itemsOf(machine: string, run: Run): Item[] {
  const known = machineByName(machine)!;
  const source = { kind: 'machine', machine: known, expectedOf: expectedOn(known) } as const;
  const { items } = judge(source, [run], []);
  return items.filter(({ name }) => /DMA/.test(name));
}

/** Microseconds of a row as a healthy machine with this rate has them. */
function healthyUs(run: Run, nicGbps: number): number {
  const expected = expectedOn({ ...machineByName('p5')!, nicGbps })(run);
  if ('because' in expected) throw new Error(expected.because);
  const row = expected.run.rows.find(({ bytes }) => bytes === run.rows[0]!.bytes);
  return row!.nanoseconds!.mean / 1000;
}

describe('an exchange on p5', () => {
  test.each([2, 3, 16])('of %i nodes is held to the model of that world', (nodes) => {
    const bytes = 4 * M;
    const us = healthyUs(exchangeOf(exchangeRow(1, nodes, bytes), nodes), 100);
    const at = (slowdown: number) =>
      itemsOf('p5', exchangeOf(exchangeRow(us * slowdown, nodes, bytes), nodes))[0]!;
    expect([1, 1.1, 1.4].map((slowdown) => at(slowdown).grade)).toEqual([
      'pass',
      'degraded',
      'fail',
    ]);
    expect(at(1).reason).toContain(
      `95 % of what the model p5 predicts for ${nodes} nodes with 1 rank of 4 NICs each`,
    );
  });

  test('of 8 nodes is held to what was published', () => {
    const [item] = itemsOf('p5', exchangeOf(exchangeRow(5531, 8), 8));
    expect(item).toMatchObject({ grade: 'pass', metric: 'linePercent' });
    expect(item!.reason).toContain('95 % of the share published for p5.48xlarge');
  });

  test('that the model does not cover is only compared with its bound, which is said', () => {
    const run = { ...exchangeOf(exchangeRow(5531, 2), 2), world: world(1, 2) };
    const machine = machineByName('p5')!;
    const source = { kind: 'machine', machine, expectedOf: expectedOn(machine) } as const;
    expect(itemsOf('p5', run)).toEqual([]);
    expect(judge(source, [run], []).notes).toEqual([
      'all2all is compared with its bound only: no published figures apply, and the model gives none (all ranks were on one host, where no NIC is needed)',
    ]);
  });
});

test.each([
  ['p5', 'simulating 512 ranks takes long (weft report --model p5 does it)'],
  ['p6-b200', 'simulating 512 ranks takes long'],
])('a large world of %s names a model only where one has that name', (name, because) => {
  const run = exchangeOf(exchangeRow(5531, 512), 512);
  expect(expectedOn(machineByName(name)!)(run)).toMatchObject({ because });
});

test('faster NICs are held to the time of a write with p5’s fixed costs, not to p5’s share', () => {
  const bytes = M;
  const channels = [{ nic: 'rdmap0', lineRateGbps: 400 }];
  const runOf = (us: number): Run => {
    const base = p5Run([writeRow(us, bytes, 'SingleDMA')]);
    const settings = { minBytes: bytes, maxBytes: bytes, stepFactor: 2 };
    return { ...base, fabric: { ...base.fabric, channels }, settings };
  };
  const { nicGbps, writeMicroseconds } = p5FabricAt({ nicGbps: 400 }).parameters;
  const us = writeMicroseconds + (bytes * 8) / nicGbps / 1000;
  expect(healthyUs(runOf(1), 400)).toBeCloseTo(us, 3);
  const [healthy] = itemsOf('p6-b200', runOf(us));
  expect(healthy).toMatchObject({ grade: 'pass', metric: 'gbps' });
  expect(healthy!.reason).toContain('the model p5 at 400 Gbps per NIC');
  expect(itemsOf('p6-b200', runOf(1.4 * us))[0]!.grade).toBe('fail');
});
