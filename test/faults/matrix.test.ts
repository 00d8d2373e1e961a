import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lowerLab, raiseLab } from '../../src/lab/index.js';
import { defaultSpec } from '../../src/lab/spec.js';
import { labName, leftOf, whyNoLab } from '../lab/laboratory.js';
import { type Cell, nameOf } from './cell.js';
import { cells } from './cells.js';
import {
  expected,
  inDocument,
  listed,
  type Shown,
  unfinished,
  withTable,
  writeTable,
} from './document.js';
import { runCell } from './run-cell.js';

/** `npm run test:faults` runs every cell and writes what it saw into docs/reliability.md. */
const all = process.env.WEFT_ALL_FAULTS === '1';
const seen = new Map<string, Shown>();
const lab = labName('matrix');
const mark = '<!-- matrix: npm run test:faults writes it -->';

const chosen = cells.filter((cell) => cell.knownFailure === undefined && (all || cell.chosen));
const named = (of: readonly Cell[]) => of.map((cell) => [nameOf(cell), cell] as const);
const timeout = 180_000;

async function run([name, cell]: readonly [string, Cell]): Promise<void> {
  seen.set(name, 'failed');
  seen.set(name, await runCell(cell, lab));
}

/** A lab is one for all, and the kernel counts for the whole machine whom it killed for lack of memory. */
const isAlone = ({ world, fault }: Cell) => world === 'lab' || fault.name === 'out of memory';

/** Cells mount disks and /dev/shm of their own, and some need a lab. */
const reason = whyNoLab();

describe.skipIf(reason)(`the fault matrix${reason ? ` (${reason})` : ''}`, () => {
  // Most cells wait most of the time. Those of `npm test` run on machines with two cores, among other tests.
  (all ? describe.concurrent : describe)('side by side', () => {
    test.for(named(chosen.filter((cell) => !isAlone(cell))))('%s', { timeout }, run);
  });

  describe('one by one', () => {
    beforeAll(async () => {
      const spec = { ...defaultSpec, hosts: 3, nics: 2, bitsPerSecond: 100e6 };
      await raiseLab(lab, spec, { owned: false });
    });
    afterAll(async () => {
      await lowerLab(lab);
      expect(leftOf(lab)).toEqual([]);
    });
    test.for(named(chosen.filter(isAlone)))('%s', { timeout }, run);
  });

  afterAll(() => {
    if (all) writeTable(cells, seen);
  });
});

test('docs/reliability.md lists the cells of the matrix', () => {
  expect(listed()).toEqual(expected(cells));
});

// A run of all cells is about to write it anew.
test.skipIf(all)('docs/reliability.md shows how every cell ended, and that none failed', () => {
  expect(inDocument()).toEqual([]);
});

test('lines of cells that failed or have not run are told from good ones', () => {
  const some = cells.slice(0, 3);
  const good = { exit: 1, rows: 1, outcome: 'aborted', message: 'it failed, as it should' };
  const seen = new Map<string, Shown>([
    [nameOf(some[0]!), good],
    [nameOf(some[1]!), 'failed'],
  ]);
  const lines = unfinished(withTable(`${mark}\n`, some, seen));
  expect(lines).toEqual(expected(some.slice(1)).map((line) => expect.stringContaining(line)));
});

test('a cell that failed does not keep the line of the run before', () => {
  const [cell] = cells;
  const good = { exit: 1, rows: 1, outcome: 'aborted', message: 'as it should be' };
  const before = withTable(`${mark}\n`, [cell!], new Map([[nameOf(cell!), good]]));
  expect(withTable(before, [cell!], new Map())).toBe(before);
  const after = withTable(before, [cell!], new Map([[nameOf(cell!), 'failed' as const]]));
  expect(after).toContain('**failed**');
  expect(after).not.toContain('as it should be');
});

test('every cell has a name of its own, and `npm test` runs 20 of them', () => {
  expect(new Set(cells.map(nameOf)).size).toBe(cells.length);
  expect(cells.filter((cell) => cell.chosen)).toHaveLength(20);
});
