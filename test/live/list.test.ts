import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { RunBatches } from '../../src/live/run-batches.js';
import { RunLog } from '../../src/live/run-log.js';
import type { Listing } from '../../src/live/wire.js';
import { markAbandoned } from '../../src/live/writers.js';
import { readOwnFile } from '../../src/results/open-file.js';
import { readRun } from '../../src/results/read-run.js';
import { limits } from '../../src/results/run-lines.js';
import { finish, PageDesk, row, Viewer } from './desk.js';

const listed = async (desk: PageDesk): Promise<Listing> =>
  JSON.parse((await desk.get('/api/runs')).text) as Listing;
const states = ({ runs }: Listing) =>
  Object.fromEntries(runs.map(({ key, state }) => [key, state]));
const local = { world: { ranks: 2, hosts: [hostname()], launcher: 'local' } };

describe('the list', () => {
  test('has what a reader looks for, newest first', async () => {
    await using desk = await PageDesk.open();
    desk.finished('b', [row(64), row(4096), row(128)], { startedAt: '2026-01-02T00:00:00.000Z' });
    desk.finished('a', [row(64)], { startedAt: '2026-01-03T00:00:00.000Z' });
    const { runs } = await listed(desk);
    expect(runs.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(runs[1]).toMatchObject({
      state: 'passed',
      rows: 3,
      header: { benchmark: 'write', world: { ranks: 4 }, fabric: { provider: 'tcp' } },
      headline: { column: 'SinglePin', bytes: 4096 },
    });
  });

  test('tells running runs from those whose writer is gone', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('running', local);
    const dead = desk.begin('dead', local);
    dead.close();
    utimesSync(dead.path, 1e9, 1e9);
    utimesSync(file.path, 1e9, 1e9);
    expect(states(await listed(desk))).toEqual({ running: 'running', dead: 'aborted' });
    finish(file);
    expect(states(await listed(desk))).toEqual({ running: 'passed', dead: 'aborted' });
  });

  test('is patient with writers on other hosts', async () => {
    await using desk = await PageDesk.open();
    const remote = desk.begin('remote');
    remote.close();
    const lately = Date.now() / 1000 - 60;
    utimesSync(remote.path, lately, lately);
    expect(states(await listed(desk))).toEqual({ remote: 'running' });
    utimesSync(remote.path, lately - 600, lately - 600);
    expect(states(await listed(desk))).toEqual({ remote: 'aborted' });
  });

  test('names what it cannot read, and shows the rest', async () => {
    await using desk = await PageDesk.open();
    desk.finished('good', [row(64)]);
    const put = (name: string, text: string | Buffer) =>
      writeFileSync(join(desk.folder, name), text);
    put('binary.jsonl', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 31) % 256)));
    put('other.jsonl', '{"hello":"world"}\n');
    put('rows-only.jsonl', `${JSON.stringify({ line: 'row', ...row(64) })}\n`);
    put('empty.jsonl', '');
    put('notes.txt', 'nothing of ours');
    put('endless.jsonl', Buffer.alloc(3 << 20, 'x'));
    put('huge.jsonl', '');
    truncateSync(join(desk.folder, 'huge.jsonl'), limits.fileBytes + 1);
    utimesSync(join(desk.folder, 'empty.jsonl'), 1e9, 1e9);
    utimesSync(join(desk.folder, 'endless.jsonl'), 1e9, 1e9);
    mkdirSync(join(desk.folder, 'folder.jsonl'));
    symlinkSync('/etc/passwd', join(desk.folder, 'link.jsonl'));
    const { runs } = await listed(desk);
    const problems = Object.fromEntries(runs.map(({ key, problem }) => [key, problem]));
    expect(problems).toEqual({
      good: undefined,
      binary: 'not a run file',
      other: 'not a run file',
      'rows-only': 'not a run file',
      empty: 'not a run file: it has no header',
      endless: 'not a run file: it has no header',
      huge: 'too large to show',
    });
    expect(runs.filter(({ state }) => state === 'unreadable')).toHaveLength(6);
  });

  test('does not follow a link that took the place of a run', async () => {
    await using desk = await PageDesk.open();
    desk.finished('run', [row(64)]);
    const path = join(desk.folder, 'run.jsonl');
    const log = new RunLog('run', path, { changed: () => {}, came: () => {} });
    await log.advance();
    expect(log.rows).toBe(1);
    const batches = new RunBatches(log);
    renameSync(path, join(desk.folder, '.elsewhere'));
    symlinkSync('.elsewhere', path);
    expect(() => readRun(path, readOwnFile)).toThrow('cannot be read');
    // Before the log has noticed, and after.
    await expect(batches.after(0)).rejects.toThrow('ELOOP');
    await log.advance();
    expect(log.summary()).toMatchObject({ rows: 0, state: 'unreadable', problem: 'not a file' });
    expect(log.header).toBeUndefined();
    rmSync(path);
    renameSync(join(desk.folder, '.elsewhere'), path);
    await log.advance();
    expect(log.summary()).toMatchObject({ rows: 1, state: 'passed' });
  });

  test('shows the rows before a damaged line', async () => {
    await using desk = await PageDesk.open();
    const file = desk.begin('damaged');
    file.append(row(64));
    file.close();
    appendFileSync(file.path, 'garbage\n');
    const { runs } = await listed(desk);
    expect(runs[0]).toMatchObject({ state: 'aborted', rows: 1, problem: 'damaged at line 3' });
  });

  test('takes runs of any file name, and names with anything in them', async () => {
    await using desk = await PageDesk.open();
    desk.finished('x', [row(64)]);
    const odd = '<b>alert(1)<b> \n"%2e\u{1f680}';
    copyFileSync(join(desk.folder, 'x.jsonl'), join(desk.folder, `${odd}.jsonl`));
    copyFileSync(join(desk.folder, 'x.jsonl'), join(desk.folder, 'named.by.user'));
    const { runs } = await listed(desk);
    expect(runs.map(({ key }) => key).sort()).toEqual([odd, 'named.by.user', 'x'].sort());
    for (const { key } of runs) {
      using viewer = new Viewer(desk, `/api/runs/${encodeURIComponent(key)}/events`);
      await viewer.closed;
      expect(viewer.ended).toEqual({ state: 'passed' });
    }
  });

  test('tells its viewers of new runs, new rows and runs that go', async () => {
    await using desk = await PageDesk.open();
    using viewer = new Viewer(desk, '/api/runs/events');
    const last = () => viewer.events.at(-1)?.data as Listing | undefined;
    await viewer.until(() => last()?.runs.length === 0);
    const file = desk.begin('new');
    await viewer.until(() => last()?.runs[0]?.state === 'running');
    file.append(row(64));
    await viewer.until(() => last()?.runs[0]?.rows === 1);
    finish(file);
    await viewer.until(() => last()?.runs[0]?.state === 'passed');
    rmSync(file.path);
    await viewer.until(() => last()?.runs.length === 0);
  });

  test('says when the folder goes, and goes on when it is back', async () => {
    await using desk = await PageDesk.open();
    rmSync(desk.folder, { recursive: true });
    expect(await listed(desk)).toMatchObject({ problem: 'ENOENT', runs: [] });
    mkdirSync(desk.folder);
    desk.finished('back', [row(64)]);
    expect(states(await listed(desk))).toEqual({ back: 'passed' });
  });

  test('of 200 runs with 10,000 rows is whole', async () => {
    await using desk = await PageDesk.open();
    const samples = Array.from({ length: 300 }, (_, i) => 5000 + i);
    const line = `${JSON.stringify({ line: 'row', ...row(64), samples })}\n`;
    for (let i = 0; i < 200; i++) {
      const file = desk.begin(`run-${i}`);
      appendFileSync(file.path, line.repeat(50));
      finish(file);
    }
    const { runs } = await listed(desk);
    expect(runs).toHaveLength(200);
    expect(runs.every(({ rows, state }) => rows === 50 && state === 'passed')).toBe(true);
  });
});

test('two runs are compared as weft compare does', async () => {
  await using desk = await PageDesk.open();
  desk.finished('a', [row(64)]);
  desk.finished('b', [row(64)]);
  desk.finished('c', [row(64)], { benchmark: 'all2all' });
  const said = JSON.parse((await desk.get('/api/compare?a=a&b=b')).text);
  expect(said).toMatchObject({ summary: expect.stringMatching(/^write: /), verdicts: ['unclear'] });
  for (const i of [1, 2, 3]) {
    desk.finished(`old${i}`, [row(64)], {
      id: `old${i}`,
      startedAt: `2026-01-01T00:0${i}:00.000Z`,
    });
  }
  desk.finished('d', [row(64)], { id: 'd', startedAt: '2026-01-03T00:00:00.000Z' });
  const known = JSON.parse((await desk.get('/api/compare?a=a&b=d')).text);
  expect(known.notes.join()).toContain('earlier runs of the same set-up');
  const other = JSON.parse((await desk.get('/api/compare?a=a&b=c')).text);
  expect(other.problem).toContain('different benchmarks (write and all2all)');
  for (const query of ['', '?a=a', '?a=a&b=nothing', '?a=a&b=../a']) {
    expect((await desk.get(`/api/compare${query}`)).status).toBe(404);
  }
});

test('a folder that is not there is bad usage', async () => {
  await expect(PageDesk.open({ folder: '/nowhere/at/all' })).rejects.toMatchObject({
    code: 'BAD_USAGE',
    message: '/nowhere/at/all does not exist',
  });
});

test('a run that nobody writes to is looked for once among the processes', async () => {
  await using desk = await PageDesk.open();
  const file = desk.begin('dead', local);
  file.close();
  utimesSync(file.path, 1e9, 1e9);
  const log = new RunLog('dead', file.path, { changed() {}, came() {} });
  await log.advance();
  const judged = vi.spyOn(log, 'setAbandoned');
  for (let i = 0; i < 3; i++) await markAbandoned([log]);
  expect(log.state).toBe('aborted');
  expect(judged).toHaveBeenCalledTimes(1);
});
