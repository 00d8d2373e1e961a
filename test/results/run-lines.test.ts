import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunLog } from '../../src/live/run-log.js';
import { notesOf } from '../../src/results/formats/notes.js';
import { mostSamplesKept, withKeptSamples } from '../../src/results/kept-samples.js';
import { readRun, rowsInFile } from '../../src/results/read-run.js';
import { RunFile } from '../../src/results/run-file.js';
import { readRunIndex, rowsOf } from '../../src/results/run-index.js';
import { limits, linesOf } from '../../src/results/run-lines.js';
import { header, runOf, sampleRow } from './fixtures.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-run-lines-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const row = (bytes: number) => sampleRow({ column: 'SinglePin', bytes, us: 10 });
const footer = { endedAt: '2026-01-02T03:05:00.000Z', outcome: 'passed', errors: [] } as const;

function fileWith(between: string): string {
  const file = new RunFile(header, { folder });
  file.append(row(64));
  appendFileSync(file.path, between);
  file.append(row(128));
  file.finish({ ...footer, errors: [] });
  return file.path;
}

async function logOf(path: string): Promise<RunLog> {
  const log = new RunLog('run', path, { changed() {}, came() {} });
  await log.advance();
  return log;
}

describe('a row with more samples than a line may hold', () => {
  const taken = 12_700_000;
  // As many digits as a row of seconds has: all of them would be a line of 140 MB.
  const many = { ...row(64), samples: new Array<number>(taken).fill(1_234_567_890) };

  test('is written so that it can be read, and says how many samples there were', () => {
    many.samples[taken - 1] = 1;
    const file = new RunFile(header, { folder });
    file.append(row(32));
    file.append(many);
    file.finish({ ...footer, errors: [] });
    const { run, damage } = readRun(file.path);
    expect(damage).toBeUndefined();
    expect(run.rows.map(({ bytes }) => bytes)).toEqual([32, 64]);
    expect(run.rows[1]).toMatchObject({ samplesTaken: taken, nanoseconds: many.nanoseconds });
    expect(run.rows[1]!.samples).toHaveLength(mostSamplesKept);
    expect(
      notesOf(run)
        .map(({ text }) => text)
        .join('\n'),
    ).toContain(
      ': the run file keeps 1000000 of 12700000 samples, evenly chosen; the statistics are over all',
    );
  });

  test('keeps samples from its beginning to its end, in their order', () => {
    const samples = Array.from({ length: 2.5 * mostSamplesKept }, (_, i) => i);
    const { samples: kept } = withKeptSamples({ ...many, samples });
    expect(kept.slice(0, 4)).toEqual([0, 2, 5, 7]);
    expect(kept.at(-1)).toBe(2_499_997);
  });

  test('of fewer keeps all, and no file holds a line that readers refuse', () => {
    expect(withKeptSamples(row(64))).toEqual(row(64));
    const file = new RunFile(header, { folder });
    file.append(row(32));
    const reason = 'x'.repeat(limits.lineBytes);
    expect(() => file.append({ ...row(64), reason })).toThrow('longer than 64 MiB');
    file.finish({ ...footer, errors: [] });
    expect(readRun(file.path).run.rows).toEqual([row(32)]);
  });
});

describe('a line that is too long', () => {
  const path = () =>
    fileWith(`${JSON.stringify({ ...row(64), x: 'x'.repeat(limits.lineBytes) })}\n`);

  test('is named and left out; every other row is read', () => {
    const { run, damage } = readRun(path());
    expect(damage?.message).toMatch(/, line 3 is longer than 64 MiB and was left out/);
    expect(run).toMatchObject({ outcome: 'aborted', errors: [{ message: damage!.message }] });
    expect(run.rows).toEqual([row(64), row(128)]);
  });

  test('costs the index and the page no row before it', async () => {
    const file = path();
    const [indexed] = (await readRunIndex(folder)).runs;
    expect([...rowsOf(indexed!)].map(({ bytes }) => bytes)).toEqual([64, 128]);
    const log = await logOf(file);
    expect(log.summary()).toMatchObject({ rows: 1, problem: 'line 3 is longer than 64 MiB' });
  });

  test('at the end is a line in flight', () => {
    const file = fileWith('');
    appendFileSync(file, 'x'.repeat(limits.lineBytes + 1));
    expect(readRun(file)).toEqual({ run: runOf([row(64), row(128)]), damage: undefined });
  });
});

describe('blank lines', () => {
  test('with or without spaces are passed over by every reader', async () => {
    const path = fileWith('\n \n\t\r\n');
    const whole = runOf([row(64), row(128)]);
    expect(readRun(path)).toEqual({ run: whole, damage: undefined });
    expect([...rowsInFile(path)]).toEqual(whole.rows);
    const [indexed] = (await readRunIndex(folder)).runs;
    expect([...rowsOf(indexed!)].map(({ bytes }) => bytes)).toEqual([64, 128]);
    expect((await logOf(path)).summary()).toMatchObject({ state: 'passed', rows: 2 });
  });

  test('before the header too', async () => {
    const path = fileWith('');
    const later = join(folder, 'later.jsonl');
    writeFileSync(later, '\n \n');
    appendFileSync(later, [...linesIn(path)].map(({ bytes }) => `${bytes}\n`).join(''));
    expect(readRun(later).run.rows).toHaveLength(2);
    expect((await logOf(later)).summary().rows).toBe(2);
  });

  test('count as lines, and a million of them are one piece', () => {
    const path = fileWith(`${'\n'.repeat(1_000_000)}null\n`);
    expect([...linesIn(path)].length).toBeLessThan(10);
    expect(readRun(path).damage?.message).toContain('line 1000003');
  });
});

function* linesIn(path: string) {
  const fd = openSync(path, 'r');
  try {
    yield* linesOf(fd, 2 ** 24);
  } finally {
    closeSync(fd);
  }
}
