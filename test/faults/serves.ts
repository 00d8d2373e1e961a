import { rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { freePort } from '../world/ranks-in-process.js';
import { type Cell, type Ending, type Fault, kept } from './cell.js';
import { memoryGone } from './memory-gone.js';
import type { Place } from './place.js';
import type { Scene } from './scene.js';

const token = 'a-token-only-for-tests';

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
  { later, ...more }: Partial<Ending> & { later?: (scene: Scene, at: URL) => Promise<void> } = {},
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
      await later?.(scene, at);
      process.kill(scene.launcher, 'SIGTERM');
    },
  },
  phase: 'serve',
  world: 'alone',
  ends: { exit: 0, says: [/serving the runs/], file: kept, ...more },
});

const listingAt = async (at: URL, agent?: Agent): Promise<Listing> =>
  JSON.parse(await textAt(at, agent));

const textAt = (at: URL, agent?: Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(at, { ...(agent && { agent }), headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        body += piece;
      });
      answer.on('end', () => (answer.statusCode === 200 ? resolve(body) : reject(new Error(body))));
    }).on('error', reject);
  });

const stillThere = (listing: Listing) => expect(listing).toMatchObject({ runs: [planted] });

/** Over a connection of its own, the list, and a run that nobody has opened before: its rows come from its file. */
async function opensRun(at: URL): Promise<void> {
  stillThere(await listingAt(at));
  const events = await textAt(new URL('/api/runs/run/events', at));
  expect(events.match(/"line":"row"/g)).toHaveLength(planted.rows);
  expect(events).toMatch(/event: end\ndata: \{"state":"passed"/);
}

/** The page still shows what is on the disk; so does a new one, which has to do without an index. */
async function servesOn({ place }: Scene, at: URL): Promise<void> {
  await opensRun(at);
  const again = place.weft(['serve', place.results], { WEFT_PAGE_TOKEN: token });
  await again.says(/http:\S+\n/);
  await opensRun(new URL('/api/runs', again.said().trim()));
  again.child.kill('SIGTERM');
  const { code, stderr } = await again.finished;
  expect(code, stderr).toBe(0);
}

const removeIndex = (place: Place) => rmSync(`${place.results}/.weft-index`, { force: true });

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
      strike: ({ place }) => {
        removeIndex(place);
        place.fillDisk();
      },
    },
    stillThere,
    { later: servesOn },
  ),
  serving(
    {
      name: 'disk turns read-only',
      on: 'disk',
      disk: 'breakable',
      strike: ({ place }) => {
        removeIndex(place);
        place.breakDisk();
      },
    },
    stillThere,
    { later: servesOn },
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

export const serveCells: readonly Cell[] = [
  ...serves,
  memoryGone('serve'),
  await servedPortTaken(),
];
