import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { isAlive } from '../benchmarks/weft.js';
import { type Cell, type Ending, type Fault, kept, type Phase } from './cell.js';
import { checkClockFell, setBack } from './clock.js';
import { memoryGone } from './memory-gone.js';
import { readPage } from './page.js';
import type { Scene } from './scene.js';

/** The page is written under another name first, which is all that a process killed on the spot leaves. */
const killedReport = (signal: NodeJS.Signals): Cell => ({
  fault: {
    name: signal,
    on: 'process',
    strike: (scene) => void process.kill(scene.launcher, signal),
  },
  phase: 'renaming',
  world: 'alone',
  ends: { exit: signal, says: [], file: kept, sweptByNextRun: signal === 'SIGKILL' },
  chosen: signal === 'SIGTERM',
});

const brokenReport = (fault: Omit<Fault, 'on'>, exit: number, says: RegExp): Cell => ({
  fault: { on: 'disk', ...fault },
  phase: 'report',
  world: 'alone',
  ends: { exit, says: [says], file: fault.name.includes('deleted') ? undefined : kept },
});

/** Nothing is lost: the page is written when it may go on, or with what it may have. */
const unbrokenReport = (
  fault: Fault,
  { phase = 'report', check }: { phase?: Phase; check?: Ending['check'] } = {},
): Cell => ({
  fault,
  phase,
  world: 'alone',
  ends: {
    exit: 0,
    says: [],
    file: kept,
    check: async (scene) => {
      readPage(scene);
      await check?.(scene);
    },
  },
});

/** Another `weft report` writes the same page meanwhile; each has a draft of its own. */
const secondReport = (phase: Phase): Cell => {
  const strike = async ({ place }: Scene) => {
    const { code, stderr } = await place.weft(['report', place.runFile]).finished;
    expect(code, stderr).toBe(0);
  };
  return unbrokenReport({ name: 'second writer', on: 'page', strike }, { phase });
};

export const reportCells: readonly Cell[] = [
  ...(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const).map(killedReport),
  brokenReport(
    { name: 'disk full', disk: 'small', strike: ({ place }) => place.fillDisk() },
    1,
    /cannot write \S+run\.html: the disk is full/,
  ),
  brokenReport(
    { name: 'disk turns read-only', disk: 'breakable', strike: ({ place }) => place.breakDisk() },
    2,
    /cannot write \S+run\.html: the file system is read-only/,
  ),
  brokenReport(
    {
      name: 'results folder deleted',
      strike: ({ place }) => rmSync(place.results, { recursive: true }),
    },
    2,
    /cannot write \S+run\.html: its folder does not exist/,
  ),
  unbrokenReport({
    name: 'SIGSTOP',
    on: 'process',
    strike: ({ launcher }) => void process.kill(launcher, 'SIGSTOP'),
    after: async ({ launcher }) => {
      await sleep(500);
      expect(isAlive(launcher)).toBe(true);
      process.kill(launcher, 'SIGCONT');
    },
  }),
  unbrokenReport({
    ...{ name: '64 open files', on: 'every process', under: ['prlimit', '--nofile=64:64'] },
  }),
  unbrokenReport(
    { ...{ name: 'clock set back by a day', on: 'host' }, ...setBack('report') },
    { check: checkClockFell },
  ),
  ...(['report', 'renaming'] as const).map(secondReport),
  memoryGone('report'),
];
