import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseRun, readRun } from '../../src/results/read-run.js';
import { RunFile } from '../../src/results/run-file.js';
import { newRunId } from '../../src/results/run-name.js';
import { header, sampleRow, writeRun } from './fixtures.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-run-file-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const row = (bytes: number) => sampleRow({ column: 'SinglePin', bytes, us: 10 });
const footer = { endedAt: '2026-01-02T03:05:00.000Z', outcome: 'passed', errors: [] } as const;
const lines = (file: RunFile) => readFileSync(file.path, 'utf8').split('\n').length - 1;

describe('a run file', () => {
  test('reads back as it was written', () => {
    const run = writeRun();
    const file = new RunFile(header, { folder });
    for (const each of run.rows) file.append(each);
    file.finish({ ...footer, errors: [] });
    expect(readRun(file.path)).toEqual({ run, damage: undefined });
  });

  test('has each line on disk as soon as it is appended', () => {
    using file = new RunFile(header, { folder });
    expect(lines(file)).toBe(1);
    file.append(row(64));
    expect(lines(file)).toBe(2);
  });

  test('gives its rows back from the disk, wherever it went', () => {
    const file = new RunFile(header, { folder, rescueFolder: join(folder, 'elsewhere') });
    expect([...file.rows()]).toEqual([]);
    file.append(row(64), row(128));
    expect([...file.rows()]).toEqual([row(64), row(128)]);
    rmSync(file.path);
    expect([...file.rows()]).toEqual([row(64), row(128)]);
    file.close();
  });

  test('without a footer is an aborted run with the rows it has', () => {
    const file = new RunFile(header, { folder });
    file.append(row(64));
    file.close();
    const { run, damage } = readRun(file.path);
    expect(run).toMatchObject({ outcome: 'aborted', endedAt: null, rows: [{ bytes: 64 }] });
    expect(damage).toBeUndefined();
  });

  test('loses only the row in flight when its writer dies', () => {
    const file = new RunFile(header, { folder });
    file.append(row(64));
    file.append(row(128));
    file.close();
    const text = readFileSync(file.path, 'utf8');
    const { run, damage } = parseRun(text.slice(0, -10));
    expect(run.rows.map(({ bytes }) => bytes)).toEqual([64]);
    expect(damage).toBeUndefined();
  });

  test('is named after its run', () => {
    using file = new RunFile(header, { folder });
    expect(readdirSync(folder)).toEqual([`${header.id}.jsonl`]);
    expect(file.path).toBe(join(folder, `${header.id}.jsonl`));
  });

  test('makes the folder it goes to', () => {
    using file = new RunFile(header, { folder: join(folder, 'a', 'b') });
    expect(existsSync(file.path)).toBe(true);
  });

  test('never replaces another', () => {
    const path = join(folder, 'mine.jsonl');
    writeFileSync(path, 'precious');
    expect(() => new RunFile(header, { path })).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE', message: expect.stringContaining('it exists') }),
    );
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  test('below a file says so', () => {
    writeFileSync(join(folder, 'file'), '');
    const path = join(folder, 'file', 'run.jsonl');
    expect(() => new RunFile(header, { path })).toThrow('part of the path is a file');
  });

  test('where no one may write says so', () => {
    const path = '/sys/weft-run.jsonl';
    expect(() => new RunFile(header, { path })).toThrow(
      /cannot create .*: (permission denied|.*read-only)/,
    );
  });

  test('refuses a row that does not fit the schema', () => {
    using file = new RunFile(header, { folder });
    expect(() => file.append({ ...row(64), gbps: Number.NaN })).toThrow();
    expect(lines(file)).toBe(1);
  });

  test('refuses rows once closed, and closes twice', () => {
    const file = new RunFile(header, { folder });
    file.close();
    file.close();
    expect(() => file.append(row(64))).toThrow(expect.objectContaining({ code: 'CLOSED' }));
  });
});

describe('deleted while the run is on', () => {
  const temporary = () => {
    const path = join(folder, 'other');
    writeFileSync(path, 'other');
    return path;
  };

  test.each([
    ['deleted', (path: string) => rmSync(path)],
    ['replaced', (path: string) => renameSync(temporary(), path)],
    [
      'moved away, with another in its place',
      (path: string) => {
        renameSync(path, `${path}.moved`);
        writeFileSync(path, '');
      },
    ],
    [
      'copied, and the copy put in its place',
      (path: string) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(path, `${path}.moved`);
        renameSync(`${path}.copy`, path);
      },
    ],
  ])('%s: the rows go on elsewhere, and it is told', (_, lose) => {
    const rescueFolder = mkdtempSync(join(folder, 'rescue-'));
    const file = new RunFile(header, { folder: join(folder, 'gone'), rescueFolder });
    file.append(row(64));
    lose(file.path);
    expect(() => file.append(row(128))).toThrow(/was deleted or replaced .* saved in .*rescue/);
    file.finish({ ...footer, errors: [] });
    expect(file.path.startsWith(rescueFolder)).toBe(true);
    const { run, damage } = readRun(file.path);
    expect(damage).toBeUndefined();
    expect(run.rows.map(({ bytes }) => bytes)).toEqual([64, 128]);
    rmSync(join(folder, 'gone'), { recursive: true });
  });
});

describe('on a full disk', () => {
  /** Takes half of every line after the second, then has no space. */
  function fullDisk() {
    let writes = 0;
    const write = (fd: number, bytes: Uint8Array, offset: number): number => {
      writes++;
      if (writes <= 2) return writeSync(fd, bytes, offset);
      if (offset === 0) return writeSync(fd, bytes, 0, Math.floor(bytes.length / 2));
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    return { write };
  }

  test('a row that does not fit is named, with what is kept', () => {
    using file = new RunFile(header, { folder, disk: fullDisk() });
    file.append(row(64));
    expect(() => file.append(row(128))).toThrow(
      expect.objectContaining({
        code: 'BAD_FILE',
        message: expect.stringMatching(
          /the row SinglePin at 128 bytes could not be written .*the disk is full; 1 row before it is kept/,
        ),
      }),
    );
  });

  test('the file keeps what it had and no half line', () => {
    const file = new RunFile(header, { folder, disk: fullDisk() });
    file.append(row(64));
    expect(() => file.append(row(128))).toThrow();
    file.close();
    const text = readFileSync(file.path, 'utf8');
    expect(text.endsWith('\n')).toBe(true);
    expect(parseRun(text).run.rows).toHaveLength(1);
  });

  test('lines go on where the good ones end once there is space', () => {
    let fail = false;
    const write = (fd: number, bytes: Uint8Array, offset: number): number => {
      if (!fail) return writeSync(fd, bytes, offset);
      if (offset === 0) return writeSync(fd, bytes, 0, 20);
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    const file = new RunFile(header, { folder, disk: { write } });
    fail = true;
    expect(() => file.append(row(64))).toThrow();
    fail = false;
    file.append(row(128));
    file.finish({ ...footer, errors: [] });
    const { run, damage } = readRun(file.path);
    expect(damage).toBeUndefined();
    expect(run.rows.map(({ bytes }) => bytes)).toEqual([128]);
  });

  test('a line written in parts is whole', () => {
    const write = (fd: number, bytes: Uint8Array, offset: number) =>
      writeSync(fd, bytes, offset, 1);
    const file = new RunFile(header, { folder, disk: { write } });
    file.finish({ ...footer, errors: [] });
    expect(readRun(file.path).run.outcome).toBe('passed');
  });
});

describe('the name of a run', () => {
  test('sorts by time', () => {
    const names = [3, 1, 2].map((day) => newRunId('write', new Date(Date.UTC(2026, 0, day))));
    expect([...names].sort()).toEqual([names[1], names[2], names[0]]);
  });

  test('says when and what', () => {
    const id = newRunId('all2all', new Date('2026-11-15T04:54:26.123Z'));
    expect(id).toMatch(/^20261115T045426123Z-all2all-[0-9a-f]{6}$/);
  });

  test('keeps out of other folders', () => {
    expect(newRunId('../x y', new Date(0))).toMatch(/^19700101T000000000Z-x-y-[0-9a-f]{6}$/);
  });
});
