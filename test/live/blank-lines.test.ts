import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RunLog } from '../../src/live/run-log.js';
import { finish, PageDesk, row, Viewer } from './desk.js';

test('blank lines are neither shown nor remembered', async () => {
  await using desk = await PageDesk.open();
  const file = desk.begin('blank');
  const blanks = '\n'.repeat(100_000);
  appendFileSync(file.path, blanks);
  file.append(row(64));
  appendFileSync(file.path, blanks);
  finish(file);
  using viewer = new Viewer(desk, '/api/runs/blank/events');
  await viewer.closed;
  expect(viewer.lines).toEqual(['header', 'row 64', 'footer']);
  const log = new RunLog('blank', file.path, { changed() {}, came() {} });
  await log.advance();
  expect(log.starts).toHaveLength(4);
});

test('a damaged line is named by its number in the file', async () => {
  await using desk = await PageDesk.open();
  const file = desk.begin('damaged');
  appendFileSync(file.path, '\n\nnot a row\n');
  const log = new RunLog('damaged', file.path, { changed() {}, came() {} });
  await log.advance();
  expect(log.summary().problem).toBe('damaged at line 4');
});
