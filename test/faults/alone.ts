import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { isAlive } from '../benchmarks/weft.js';
import { freePort } from '../world/ranks-in-process.js';
import type { Cell, Ending, Fault } from './cell.js';
import { setBack } from './clock.js';
import type { Scene } from './scene.js';

const token = 'a-token-only-for-tests';
const kept: Ending['file'] = { outcome: ['passed'], rows: 2 };

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
const unbrokenReport = (fault: Fault): Cell => ({
  fault,
  phase: 'report',
  world: 'alone',
  ends: {
    exit: 0,
    says: [],
    file: kept,
    check: ({ place }) => {
      const page = readFileSync(`${place.results}/run.html`, 'utf8');
      expect(page).toContain('SinglePin');
      expect(page.trimEnd()).toMatch(/<\/html>$/);
    },
  },
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
  unbrokenReport({ ...{ name: 'clock set back by a day', on: 'host' }, ...setBack('report') }),
];

const address = async ({ job }: Scene): Promise<URL> => {
  await job.says(/http:\S+\n/);
  return new URL(job.said().trim());
};

/** As far as the cells look at it. */
interface Listing {
  readonly problem?: string;
  readonly runs: readonly { readonly key: string; readonly state: string; readonly rows: number }[];
}

const planted = { key: 'run', state: 'passed', rows: 2 };

/** The page answers, whatever has happened, with what there is to show, and ends when it is told to. */
const serving = (
  fault: Omit<Fault, 'after'>,
  shows: (listing: Listing) => void,
  more: Partial<Ending> = {},
): Cell => ({
  fault: {
    ...fault,
    env: { WEFT_PAGE_TOKEN: token },
    after: async (scene) => {
      // One connection for all requests: a new one may be refused.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const at = new URL('/api/runs', await address(scene));
      expect(await listingAt(at, agent)).toMatchObject({ runs: [planted] });
      await fault.strike?.(scene);
      await vi.waitFor(async () => shows(await listingAt(at, agent)), { timeout: 10_000 });
      agent.destroy();
      process.kill(scene.launcher, 'SIGTERM');
    },
  },
  phase: 'serve',
  world: 'alone',
  ends: { exit: 0, says: [/serving the runs/], file: kept, ...more },
});

const listingAt = (at: URL, agent: Agent): Promise<Listing> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(at, { agent, headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        body += piece;
      });
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve(JSON.parse(body)) : reject(new Error(body)),
      );
    }).on('error', reject);
  });

const stillThere = (listing: Listing) => expect(listing).toMatchObject({ runs: [planted] });

/** As many connections as a process may have: none is left for a file. */
async function takeConnections(scene: Scene): Promise<void> {
  const { port } = await address(scene);
  for (let count = 0; count < 64; count++) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    crowd.push(socket);
  }
}
const crowd: Socket[] = [];

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
  endedServe('SIGHUP', 0),
  endedServe('SIGKILL', 'SIGKILL'),
  serving(
    {
      name: 'SIGSTOP',
      on: 'process',
      strike: async ({ launcher }) => {
        process.kill(launcher, 'SIGSTOP');
        await sleep(500);
        process.kill(launcher, 'SIGCONT');
      },
    },
    stillThere,
  ),
  serving(
    {
      name: 'disk full',
      on: 'disk',
      disk: 'small',
      strike: ({ place }) => place.fillDisk(),
    },
    stillThere,
  ),
  serving(
    {
      name: 'disk turns read-only',
      on: 'disk',
      disk: 'breakable',
      strike: ({ place }) => place.breakDisk(),
    },
    stillThere,
  ),
  serving(
    {
      name: 'results folder deleted',
      on: 'disk',
      strike: ({ place }) => rmSync(place.results, { recursive: true }),
    },
    (listing) => expect(listing).toMatchObject({ problem: 'ENOENT', runs: [] }),
    { file: undefined },
  ),
  serving(
    {
      ...{ name: '64 open files', on: 'every process', under: ['prlimit', '--nofile=64:64'] },
      strike: takeConnections,
      tidy: () => {
        for (const socket of crowd.splice(0)) socket.destroy();
      },
    },
    ({ problem }) => expect(problem).toMatch(/too many open files: .*ulimit -n/),
  ),
  serving(
    {
      name: 'half a line in a run file',
      on: 'disk',
      strike: ({ place }) =>
        writeFileSync(`${place.results}/second.jsonl`, '{"line":"header","sch'),
    },
    ({ runs }) =>
      expect(runs).toMatchObject([{ key: 'second', state: 'running', rows: 0 }, planted]),
  ),
];

export const aloneCells: readonly Cell[] = [...reports, ...serves, await servedPortTaken()];
