import { describe, expect, test } from 'vitest';
import { formatJson } from '../../src/results/formats/json.js';
import { parseRun, readRun } from '../../src/results/read-run.js';
import type { Row } from '../../src/results/schema.js';
import { header, sampleRow, writeRun } from './fixtures.js';

const row = (bytes: number) => sampleRow({ column: 'SinglePin', bytes, us: 10 });
const headerLine = JSON.stringify({ line: 'header', ...header });
const rowLine = (each: Row) => JSON.stringify({ line: 'row', ...each });
const textOf = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');

describe('reading a run', () => {
  test('takes what --format json prints', () => {
    expect(parseRun(formatJson(writeRun())).run).toEqual(writeRun());
  });

  test('ignores keys it does not know', () => {
    const line = JSON.stringify({ line: 'row', ...row(64), temperature: 21 });
    expect(parseRun(textOf(headerLine, line)).run.rows).toEqual([row(64)]);
  });

  test('passes over kinds of lines it does not know', () => {
    const text = textOf(headerLine, '{"line":"weather"}', rowLine(row(64)));
    expect(parseRun(text)).toMatchObject({ damage: undefined, run: { rows: [{ bytes: 64 }] } });
  });

  test('names the line that is damaged and keeps those before it', () => {
    const text = textOf(headerLine, rowLine(row(64)), '{"line":"row","col', rowLine(row(128)));
    const { run, damage } = parseRun(text, 'x.jsonl');
    expect(damage).toMatchObject({
      code: 'BAD_FILE',
      message: expect.stringContaining('x.jsonl, line 3'),
    });
    expect(run.rows.map(({ bytes }) => bytes)).toEqual([64]);
  });

  test('marks a damaged run as aborted and lists why', () => {
    const { run } = parseRun(textOf(headerLine, 'null'));
    expect(run).toMatchObject({ outcome: 'aborted', errors: [{ code: 'BAD_FILE' }] });
  });

  test('names the field that does not fit', () => {
    const bad = JSON.stringify({ line: 'row', ...row(64), bytes: 'many' });
    expect(parseRun(textOf(headerLine, bad)).damage?.message).toContain('bytes: ');
  });

  test.each([
    ['an empty file', ''],
    ['something else', 'size,gbps\n1,2\n'],
    ['another schema', textOf(JSON.stringify({ ...header, schema: 'weft.run/2' }))],
    ['rows without a header', textOf(rowLine(row(64)))],
  ])('refuses %s', (_, text) => {
    expect(() => parseRun(text)).toThrow(
      expect.objectContaining({ code: 'BAD_FILE', message: expect.stringContaining('line 1') }),
    );
  });

  test('of a file that is not there says so', () => {
    expect(() => readRun('/nowhere/run.jsonl')).toThrow('/nowhere/run.jsonl does not exist');
  });
});
