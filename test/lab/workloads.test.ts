import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Row } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';
import { labName, whyNoLab } from './laboratory.js';

const lab = labName('workloads');
const suite = `
defaults: { iterations: 2, warmup: 1, minBytes: 64K, maxBytes: 64K }
runs:
  - { benchmark: incast, columns: [MultiPin], minBytes: 1M, maxBytes: 1M }
  - { benchmark: moe, routing: 'zipf:1.2', tokens: [64], hidden: 3072, columns: [DispatchMultiPin, CombineMultiPin] }
  - { benchmark: moe, routing: 'zipf:1.2', tokens: [64], hidden: 3072, overlap: true, columns: [BothMultiPin] }
  - { benchmark: kv, requests: 4, pages: 4, columns: [PushMultiPin, PullMultiPin] }
  - { benchmark: victim, columns: [SinglePin], loadBytes: 2M, roundTrips: 32, minBytes: 8, maxBytes: 8 }
`;
/** In percent; a busy machine reaches more, and a NIC at a tenth of its rate leaves less. */
const floors = { ofBound: 50, fairness: 70 };

describe.runIf(whyNoLab() === undefined)('workloads between hosts', () => {
  const desk = new Desk();
  let rows: readonly Row[] = [];
  const isVictim = ({ slowdown }: Row) => slowdown !== undefined;

  beforeAll(async () => {
    const built = await desk.weft(`lab up --name ${lab} --hosts 4 --nics 2 --rate 100mbit`);
    expect(built).toMatchObject({ exitCode: 0 });
    writeFileSync(join(desk.folder, 's.yaml'), suite);
    const { exitCode, stderr } = await desk.weft(`lab run --name ${lab} -- suite s.yaml --quiet`);
    expect(exitCode, stderr).toBe(0);
    rows = desk.runs().flatMap(({ run }) => run.rows);
  }, 120_000);
  afterAll(async () => {
    await desk.weft(`lab down --name ${lab} --force`);
    desk[Symbol.dispose]();
  });

  test('use all NICs as planned, and most of what they allow', () => {
    const loads = rows.filter((row) => !isVictim(row));
    expect(loads.map((row) => row.column).sort()).toEqual([
      ...['BothMultiPin', 'CombineMultiPin', 'DispatchMultiPin', 'MultiPin'],
      ...['PullMultiPin', 'PushMultiPin'],
    ]);
    for (const row of loads) {
      expect(row, row.reason).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
      expect(row.checked.bytes).toBeGreaterThan(0);
      expect(row.path, `${row.column}: ${row.path?.text}`).toMatchObject({ asPlanned: true });
      const used = row.path!.nics.filter(({ expectedTxBytes }) => expectedTxBytes > 0);
      expect(used.length).toBeGreaterThan(1);
      expect(row.ofBoundPercent, row.column).toBeGreaterThan(floors.ofBound);
    }
  });

  test('slow down a pair whose NIC they fill', () => {
    const [victim] = rows.filter(isVictim);
    expect(victim).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
    expect(victim!.slowdown).toBeGreaterThan(2);
  });

  test('share a receiver evenly, but for a sender with a slow NIC', async () => {
    const even = rows.find(({ fairness }) => fairness !== undefined);
    expect(even!.fairness).toBeGreaterThan(floors.fairness);
    await desk.weft(`lab fault --name ${lab} --host 2 --nic 0 --rate 10mbit`);
    const incast = 'incast --columns MultiPin -b 1M -e 1M -n 2 -w 1 --format json';
    const { exitCode, stdout, stderr } = await desk.weft(`lab run --name ${lab} -- ${incast}`);
    expect(exitCode, stderr).toBe(0);
    const [slow] = JSON.parse(stdout).rows as Row[];
    expect(slow).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
    expect(slow!.fairness).toBeLessThan(floors.fairness);
    // Its NIC is a tenth of what the bound counts on.
    expect(slow!.ofBoundPercent).toBeLessThan(floors.ofBound);
  });
});
