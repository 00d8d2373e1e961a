import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { labName, whyNoLab } from './laboratory.js';

const suite = `
defaults: { iterations: 2, warmup: 1, minBytes: 64K, maxBytes: 64K }
runs:
  - { benchmark: incast, columns: [MultiPin], minBytes: 1M, maxBytes: 1M }
  - { benchmark: moe, routing: 'zipf:1.2', tokens: [64], hidden: 3072, columns: [DispatchMultiPin, CombineMultiPin] }
  - { benchmark: moe, routing: 'zipf:1.2', tokens: [64], hidden: 3072, overlap: true, columns: [BothMultiPin] }
  - { benchmark: kv, requests: 4, pages: 4, columns: [PushMultiPin, PullMultiPin] }
`;

test.runIf(whyNoLab() === undefined)(
  'workloads between hosts use all NICs as planned',
  async () => {
    using desk = new Desk();
    writeFileSync(join(desk.folder, 's.yaml'), suite);
    const lab = `lab run --name ${labName('workloads')} --hosts 4 --nics 2 --rate 100mbit --`;
    const { exitCode, stderr } = await desk.weft(`${lab} suite s.yaml --quiet`);
    expect(exitCode, stderr).toBe(0);
    const rows = desk.runs().flatMap(({ run }) => run.rows);
    expect(rows.map((row) => row.column).sort()).toEqual([
      ...['BothMultiPin', 'CombineMultiPin', 'DispatchMultiPin', 'MultiPin'],
      ...['PullMultiPin', 'PushMultiPin'],
    ]);
    for (const row of rows) {
      expect(row, row.reason).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
      expect(row.checked.bytes).toBeGreaterThan(0);
      expect(row.path, `${row.column}: ${row.path?.text}`).toMatchObject({ asPlanned: true });
      expect(
        row.path!.nics.filter(({ expectedTxBytes }) => expectedTxBytes > 0).length,
      ).toBeGreaterThan(1);
    }
  },
);
