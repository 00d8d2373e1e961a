import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../src/errors.js';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

/** The rows of the table of codes, as cells. */
const rows = page
  .split('\n')
  .filter((line) => /^\| `[A-Z_]+` +\|/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const codes = rows.map(([code = '']) => code.replaceAll('`', ''));

describe('docs/errors.md', () => {
  test.each([...errorCodes])('has a row for %s', (code) => {
    expect(codes).toContain(code);
  });

  test('has no row without a code, and none twice', () => {
    expect([...codes].sort()).toEqual([...errorCodes].sort());
  });

  test('says of every code what it means and what to do', () => {
    for (const row of rows) {
      expect(row).toHaveLength(3);
      expect(
        row.every((cell) => cell !== ''),
        row[0],
      ).toBe(true);
    }
  });
});
