import { describe, expect, test } from 'vitest';
import { fabricOf, placeOf } from '../../../src/analysis/normal/machine.js';
import { type Expected, normalOf } from '../../../src/analysis/normal/normal.js';
import { judge } from '../../../src/analysis/verdict/judge.js';
import { benchmarkById } from '../../../src/benchmarks/index.js';
import { machineByName } from '../../../src/reference/machines.js';
import { p5Fabric } from '../../../src/reference/p5-fabric.js';
import { normalLines } from '../../../src/results/formats/normal.js';
import type { Run } from '../../../src/results/schema.js';
import { predictLike } from '../../../src/runner/predict/predict-like.js';
import { exchangeRow, M, p5Run, writeRow } from './runs.js';

const noModel = () => undefined;
const byP5 = (run: Run): Expected => predictLike(run, p5Fabric, benchmarkById);
const inLab = (run: Run): Run => ({
  ...run,
  world: { ...run.world, facts: { machine: 'Weft lab' } },
});
const emulated = (run: Run): Run => ({ ...run, fabric: { ...run.fabric, emulated: true } });

describe('where a run was measured', () => {
  const run = p5Run([writeRow(1500)]);

  test('comes from its header', () => {
    expect(placeOf(run)).toEqual({ kind: 'machine', name: 'p5.48xlarge' });
    expect(placeOf({ ...run, world: { ...run.world, facts: {} } })).toEqual({ kind: 'unknown' });
    const facts = { firmware: '28.39.1002', gpus: '8' };
    expect(placeOf({ ...run, world: { ...run.world, facts } })).toMatchObject({
      name: 'ConnectX-7',
    });
  });

  test('is no machine in a lab or with emulated devices, and no model of one applies', () => {
    expect(placeOf(inLab(run)).kind).toBe('lab');
    expect(placeOf(emulated(run)).kind).toBe('emulated');
    expect(fabricOf(run)).toBe(p5Fabric);
    for (const other of [inLab(run), emulated(run)]) {
      expect(fabricOf(other)).not.toBe(p5Fabric);
      expect(byP5(other)).toMatchObject({ because: expect.stringMatching(/is no|are no/) });
    }
    const tcp = { ...run, fabric: { ...run.fabric, provider: 'tcp' } };
    expect(fabricOf(tcp)).toBeUndefined();
  });
});

describe('published figures', () => {
  test('of the same row are compared', () => {
    const { machine, rows } = normalOf([p5Run([writeRow(1464.32)])], noModel);
    expect(machine).toBe('p5.48xlarge');
    expect(rows[0]!.published).toMatchObject([
      { value: expect.closeTo(366.6, 1), differs: [], speed: expect.closeTo(1, 3) },
    ]);
  });

  test('of another world or size say what differs, and are not compared', () => {
    const run = p5Run([exchangeRow(3000, 4)], { benchmark: 'all2all' });
    const [tables, nccl] = normalOf([run], noModel).rows[0]!.published;
    expect(tables!.differs).toEqual(['published for 8 nodes, measured with 4 nodes']);
    expect(nccl!.differs).toEqual(['published for 8 ranks per node, measured with 1']);
    expect(tables!.speed).toBeUndefined();
    const [other] = normalOf([p5Run([writeRow(900, 32 * M)])], noModel).rows[0]!.published;
    expect(other!.differs).toEqual(['published for 64M, measured with 32M']);
  });

  test('are not placed beside sizes that are far from theirs, labs and emulated devices', () => {
    const far = normalOf([p5Run([writeRow(300, 16 * M)])], noModel);
    expect(far.rows).toEqual([]);
    expect(far.notes).toEqual([expect.stringContaining('no published figures of these sizes')]);
    for (const other of [inLab, emulated]) {
      const normal = normalOf([other(p5Run([writeRow(1464.32)]))], noModel);
      expect(normal).toMatchObject({ machine: null, rows: [] });
      expect(normal.notes).toEqual([expect.stringContaining('not compared with')]);
    }
  });

  test('on an unknown machine one sentence says that there are none', () => {
    const run = p5Run([writeRow(1500)], {
      world: { ...p5Run([]).world, facts: { machine: 'X9' } },
    });
    expect(normalOf([run], noModel).notes).toEqual([
      'Nothing is known to compare with: Weft has no published figures and no model for this machine (X9).',
    ]);
  });

  test('labs and emulated devices are not judged as a machine, whatever was asked for', () => {
    const source = { kind: 'machine', machine: machineByName('p5')!, expectedOf: byP5 } as const;
    const items = (run: Run) => judge(source, [run], []).items.map(({ metric }) => metric);
    const slow = p5Run([writeRow(15_000)]);
    expect(items(slow)).toContain('busbwPercent');
    expect(items(inLab(slow))).not.toContain('busbwPercent');
    expect(items(emulated(slow))).not.toContain('busbwPercent');
  });
});

describe('a model', () => {
  const run = p5Run([writeRow(400, 16 * M), writeRow(1464.32)]);

  test('expects exactly the rows that were measured, in the same world', () => {
    const expected = byP5(run) as { run: Run };
    expect(expected.run.world).toMatchObject({ ranks: 4 });
    expect(expected.run.rows.map(({ column, bytes }) => [column, bytes])).toEqual([
      ['MultiDMA', 16 * M],
      ['MultiDMA', 32 * M],
      ['MultiDMA', 64 * M],
    ]);
    const [, row] = normalOf([run], byP5).rows;
    expect(row!.model!.speed).toBeCloseTo(1, 1);
    expect(row!.model!.interval[0]).toBeLessThan(row!.nanoseconds);
  });

  test('has as many NICs as the run used', () => {
    const one = { ...run, fabric: { ...run.fabric, channels: run.fabric.channels.slice(0, 1) } };
    const rate = (of: Run) => (byP5(of) as { run: Run }).run.rows.at(-1)!.gbps!;
    expect(rate(run) / rate(one)).toBeGreaterThan(3.5);
  });

  test.each([
    ['all ranks on one host', { world: { ...run.world, hosts: ['a'] } }, 'on one host'],
    ['what has no plans', { benchmark: 'pairs' }, 'it does not cover pairs'],
    [
      'ranks spread unevenly',
      { world: { ...run.world, hosts: ['a', 'b'], hostOfRank: ['a', 'a', 'a', 'b'] } },
      'not spread evenly',
    ],
  ])('%s: it says why it expects nothing', (_, changes, because) => {
    const expected = byP5({ ...run, ...changes });
    expect(expected).toMatchObject({ model: 'p5', because: expect.stringContaining(because) });
    expect(normalOf([run], () => expected).notes).toEqual([
      expect.stringContaining('Not compared with the model p5: '),
    ]);
  });

  test('a terminal shows the largest size, with the source and the range', () => {
    const text = normalLines(normalOf([run], byP5), 100).join('\n');
    expect(text).toMatch(/model p5, predicted/);
    expect(text).toMatch(/write MultiDMA 64M +367 Gbps +367 Gbps \(100 %\) +\d+ to \d+ Gbps/);
    expect(text).not.toContain('16M');
    expect(text).toContain('Published: Libefaxx');
  });
});
