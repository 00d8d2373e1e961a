import { describe, expect, test } from 'vitest';
import { judgeSoundness } from '../../src/analysis/verdict/judge-runs.js';
import { answerOf } from '../../src/report/answer.js';
import { renderReport } from '../../src/report/html.js';
import { formatCsv } from '../../src/results/formats/csv.js';
import { formatJson } from '../../src/results/formats/json.js';
import { formatMarkdown } from '../../src/results/formats/markdown.js';
import { formatTable } from '../../src/results/formats/table.js';
import type { Path } from '../../src/results/path.js';
import { parseRun } from '../../src/results/read-run.js';
import { mergeRepeats } from '../../src/results/repeats.js';
import type { Run } from '../../src/results/schema.js';
import { runOf, sampleRow } from './fixtures.js';

const M = 2 ** 20;
const text = 'path not as planned: nic0 on h1 carried 12 MB of 400 MB; 388 MB went over mgmt';
const nic = (name: string, txBytes: number, expectedTxBytes: number) => ({
  ...{ host: 'h1', ranks: [1], nic: name, txBytes, rxBytes: 0, expectedTxBytes },
  expectedRxBytes: 0,
});
const astray: Path = {
  nics: [nic('nic0', 12e6, 400e6), { ...nic('mgmt', 391e6, 0), ranks: [] }],
  asPlanned: false,
  reason: 'elsewhere',
  text,
};
const healthy: Path = {
  nics: [{ ...nic('nic0', 403e6, 400e6), retransmits: 7, drops: 2 }],
  asPlanned: true,
};
const row = (column: string, bytes: number, path?: Path) =>
  sampleRow({ column, bytes, us: 100, allowedGbps: 100, ...(path && { path }) });
const rows = [row('SinglePin', M, healthy), row('SinglePin', 4 * M, astray)];
const run = runOf([...rows, row('MultiPin', 4 * M, astray)]);

describe('a path that is not as planned', () => {
  test('is marked in tables, and a note says what was seen', () => {
    for (const format of [formatTable(run, { width: 200 }), formatMarkdown(run)]) {
      expect(format).toMatch(/335\.54! /);
      expect(format).toContain(`! SinglePin 4M (and 1 more row): ${text}`);
      expect(format).not.toMatch(/83\.89!/);
    }
  });

  test('stays through files and CSV', () => {
    expect(parseRun(formatJson(run)).run.rows[1]!.path).toEqual(astray);
    const [head, first, second] = formatCsv(run)
      .split('\r\n')
      .map((line) => line.split(',').slice(0, -1));
    expect(head!.slice(-2)).toEqual(['path_as_planned', 'path_note']);
    expect(first!.slice(-2)).toEqual(['true', '']);
    expect(second!.slice(-2)).toEqual(['false', text]);
  });

  test('fails a check, whatever the rates are', () => {
    const items = (of: Run) => judgeSoundness([of]).filter(({ name }) => name === 'write path');
    expect(items(run)).toMatchObject([{ grade: 'fail', metric: 'rowsOffPath', value: 2 }]);
    expect(items(run)[0]!.reason).toBe(`2 of 3 rows affected, e.g. SinglePin 4M: ${text}.`);
    expect(items(runOf(rows.slice(0, 1)))).toMatchObject([{ grade: 'pass', value: 0 }]);
    const untold: Path = { nics: [], asPlanned: null, reason: 'no-counters' };
    expect(items(runOf([row('SinglePin', M, untold), row('SinglePin', 2 * M)]))).toEqual([]);
  });

  test('heads a report, which has the bytes of each NIC beside the plan', () => {
    expect(answerOf([run]).headline).toMatch(/^2 rows of write did not go over the planned NICs\./);
    const cells = (html: string) => html.replace(/<\/t[dh]>/g, '|').replace(/<[^>]*>/g, '');
    const table = cells(renderReport([run]).split('Bytes per NIC against the plan</summary>')[1]!);
    expect(table).toContain('SinglePin 4M|h1|nic0|12 MB|400 MB|0 bytes|0 bytes|||');
    expect(table).toContain('SinglePin 4M|h1|mgmt|391 MB|0 bytes|0 bytes|0 bytes|||');
    expect(table).toContain('1 row|h1|nic0|403 MB|400 MB|0 bytes|0 bytes|7|2|');
    expect(renderReport([runOf([row('SinglePin', M)])])).not.toContain('Bytes per NIC');
  });

  test('of one repeat is that of all', () => {
    const repeats = [healthy, astray, healthy].map((path, repeat) => ({
      ...row('SinglePin', M, path),
      repeat,
    }));
    expect(mergeRepeats(runOf(repeats)).rows.map(({ path }) => path)).toEqual([astray]);
  });
});

test('what NICs sent again or dropped is a note', () => {
  const once = runOf([row('SinglePin', M, { ...healthy, tcpRetransmits: 3 })]);
  expect(formatTable(once, { width: 200, verbose: true })).toContain(
    'during the timed loops: 3 TCP segments retransmitted, 7 packets retransmitted by RDMA devices, 2 packets dropped by NICs',
  );
});
