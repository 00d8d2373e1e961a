import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { freePort } from '../world/ranks-in-process.js';
import type { Cell, Ending, Fault } from './cell.js';
import type { Scene } from './scene.js';

const token = 'a-token-only-for-tests';
const kept: Ending['file'] = { outcome: ['passed'], rows: 2 };

/** The page is written under another name first, which is all that a killed process leaves. */
const killedReport = (signal: NodeJS.Signals): Cell => ({
  fault: {
    name: signal,
    on: 'process',
    strike: (scene) => void process.kill(scene.launcher, signal),
  },
  phase: 'renaming',
  world: 'alone',
  ends: { exit: signal, says: [], file: kept, sweptByNextRun: true },
  chosen: signal === 'SIGTERM',
});

const brokenReport = (fault: Omit<Fault, 'on'>, exit: number, says: RegExp): Cell => ({
  fault: { on: 'disk', ...fault },
  phase: 'report',
  world: 'alone',
  ends: { exit, says: [says], file: fault.name.includes('deleted') ? undefined : kept },
});

const reports: readonly Cell[] = [
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
];

const address = async ({ job }: Scene): Promise<URL> => {
  await job.says(/http:\S+\n/);
  return new URL(job.said().trim());
};

/** The page answers, whatever has happened, and ends when it is told to. */
const serving = (fault: Omit<Fault, 'after'>, status = 200, more: Partial<Ending> = {}): Cell => ({
  fault: {
    ...fault,
    env: { WEFT_PAGE_TOKEN: token },
    after: async (scene) => {
      const at = await address(scene);
      await fault.strike?.(scene);
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(new URL('/api/runs', at), { headers })).status).toBe(status);
      process.kill(scene.launcher, 'SIGTERM');
    },
  },
  phase: 'serve',
  world: 'alone',
  ends: { exit: 0, says: [/serving the runs/], file: kept, ...more },
});

const endedServe = (signal: NodeJS.Signals, exit: Ending['exit']): Cell => ({
  fault: {
    name: signal,
    on: 'process',
    after: async (scene) => {
      await address(scene);
      process.kill(scene.launcher, signal);
    },
  },
  phase: 'serve',
  world: 'alone',
  ends: { exit, says: [/serving the runs/], file: kept },
});

async function servedPortTaken(): Promise<Cell> {
  const port = await freePort();
  const server = createServer();
  return {
    fault: {
      name: 'port taken',
      on: 'port',
      options: ['--port', String(port)],
      before: () => new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve)),
      tidy: () => void server.close(),
    },
    phase: 'serve',
    world: 'alone',
    ends: { exit: 1, says: [/port N on 127\.0\.0\.1 is in use/], file: kept },
  };
}

const serves: readonly Cell[] = [
  endedServe('SIGINT', 0),
  endedServe('SIGTERM', 0),
  endedServe('SIGHUP', 'SIGHUP'),
  endedServe('SIGKILL', 'SIGKILL'),
  serving({
    name: 'SIGSTOP',
    on: 'process',
    strike: async ({ launcher }) => {
      process.kill(launcher, 'SIGSTOP');
      await sleep(500);
      process.kill(launcher, 'SIGCONT');
    },
  }),
  serving({
    name: 'disk full',
    on: 'disk',
    disk: 'small',
    strike: ({ place }) => place.fillDisk(),
  }),
  serving({
    name: 'disk turns read-only',
    on: 'disk',
    disk: 'breakable',
    strike: ({ place }) => place.breakDisk(),
  }),
  serving(
    {
      name: 'results folder deleted',
      on: 'disk',
      strike: ({ place }) => rmSync(place.results, { recursive: true }),
    },
    200,
    { file: undefined },
  ),
  serving({ name: '64 open files', on: 'every process', under: ['prlimit', '--nofile=64:64'] }),
  serving({
    name: 'half a line in a run file',
    on: 'disk',
    strike: ({ place }) => writeFileSync(`${place.results}/second.jsonl`, '{"line":"header","sch'),
  }),
];

export const aloneCells: readonly Cell[] = [...reports, ...serves, await servedPortTaken()];
