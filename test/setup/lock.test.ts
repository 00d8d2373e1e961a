import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { load } from './load.js';

const { takeLock } = await load('lock');
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-lock-'));
  file = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a lock names its holder and is gone when given back', async () => {
  const release = await takeLock(file);
  expect(JSON.parse(readFileSync(file, 'utf8')).pid).toBe(process.pid);
  release();
  expect(existsSync(file)).toBe(false);
});

test('a second one waits for the first, and says for whom', async () => {
  const release = await takeLock(file);
  const waitedFor: number[] = [];
  let taken = false;
  const second = takeLock(file, { onWait: (pid: number) => waitedFor.push(pid) }).then(
    (give: () => void) => {
      taken = true;
      give();
    },
  );
  await sleep(250);
  expect(taken).toBe(false);
  expect(waitedFor).toEqual([process.pid]);
  release();
  await second;
  expect(taken).toBe(true);
});

test('a lock left by a process that is gone is taken over', async () => {
  writeFileSync(file, JSON.stringify({ pid: 4_194_304, started: '1' }));
  (await takeLock(file))();
});

test('a lock whose process id was used again is taken over', async () => {
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: '1' }));
  (await takeLock(file))();
});

test('many at once hold it one after the other', async () => {
  let holders = 0;
  let most = 0;
  writeFileSync(file, JSON.stringify({ pid: 4_194_304, started: '1' }));
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const release = await takeLock(file);
      most = Math.max(most, ++holders);
      await sleep(5);
      holders--;
      release();
    }),
  );
  expect(most).toBe(1);
});
