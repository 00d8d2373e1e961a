import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import type { Finished } from '../ranks/processes.js';
import {
  type Cell,
  type Fault,
  fileWithoutRankZero,
  inJob,
  type Phase,
  passes,
  restOfJob,
  withFirst,
} from './cell.js';
import { checkClockFell, setBack } from './clock.js';
import type { Scene } from './scene.js';
import { sharedMemoryCells } from './shared-memory.js';

const beforeFile = (phase: Phase) => phase === 'join' || phase === 'set-up';
/** What cannot be written when the disk fails in a phase. */
const lost = (phase: Phase) =>
  beforeFile(phase)
    ? 'the header'
    : phase === 'footer'
      ? 'the footer'
      : `the row SinglePin at ${phase === 'first-row' ? 4096 : 8192} bytes`;
/** In the file when that line is not. */
const keptAt = (phase: Phase) => (beforeFile(phase) ? undefined : fileWithoutRankZero(phase));

const full = (phase: Phase): Cell => ({
  fault: { name: 'disk full', on: 'disk', disk: 'small', strike: ({ place }) => place.fillDisk() },
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [new RegExp(`${lost(phase)} could not be written to \\S+: the disk is full`)],
    file: keptAt(phase),
    // The last line may fit into what is left of a page.
    ...(phase === 'footer' && { or: passes }),
  },
  promised: restOfJob,
  chosen: phase === 'write-out',
});

const readOnly = (phase: Phase): Cell => ({
  fault: {
    name: 'disk turns read-only',
    on: 'disk',
    disk: 'breakable',
    strike: ({ place }) => place.breakDisk(),
  },
  phase,
  world: 'local',
  ends: {
    exit: beforeFile(phase) ? 2 : 1,
    says: [
      beforeFile(phase)
        ? /cannot create \S+: the file system is read-only/
        : new RegExp(`${lost(phase)} could not be written to \\S+: .*(read-only|EROFS)`),
    ],
    file: keptAt(phase),
  },
  promised: restOfJob,
  chosen: phase === 'footer',
});

/** Before the run file is there, the folder is made anew; later the rows go to the folder of temporary files. */
const deleted = (phase: Phase): Cell => ({
  fault: {
    name: 'results folder deleted',
    on: 'disk',
    strike: ({ place }) => rmSync(place.results, { recursive: true }),
  },
  phase,
  world: 'local',
  ends: beforeFile(phase)
    ? passes
    : {
        exit: 1,
        says: [
          /was deleted or replaced while the run was on; its rows are saved in \/tmp\/run\.jsonl/,
        ],
        check: ({ place }) => {
          const saved = join(place.temporary, 'run.jsonl');
          const { run } = readRun(saved);
          // The row whose writing found the folder gone is among them.
          expect(run.rows).toHaveLength(phase === 'first-row' ? 1 : 2);
          expect(run.outcome).toBe(phase === 'footer' ? 'passed' : 'aborted');
          rmSync(saved);
        },
      },
  promised: restOfJob,
  chosen: phase === 'timed',
});

/** A whole run into the same file. */
async function writeToo({ place }: Scene): Promise<Finished> {
  const small = [
    'all2all',
    '-b',
    '4K',
    '-e',
    '8K',
    '--ranks',
    '2',
    '-n',
    '5',
    '--columns',
    'SinglePin',
  ];
  return place.weft([...small, '--out', place.runFile]).finished;
}

const refusal = /cannot create \S+: it exists, and results are never overwritten/;

const second = (phase: Phase): Cell => ({
  fault: {
    name: 'second writer',
    on: 'run file',
    strike: async (scene) => {
      const { code, stderr } = await writeToo(scene);
      expect(code, stderr).toBe(beforeFile(phase) ? 0 : 2);
      if (!beforeFile(phase)) expect(stderr).toMatch(refusal);
    },
    timeout: 60,
  },
  phase,
  world: 'local',
  ends: beforeFile(phase)
    ? { exit: 2, says: [refusal], file: { outcome: ['passed'], rows: 2 } }
    : passes,
  promised: restOfJob,
  chosen: phase === 'verify',
});

const clockBack = (phase: Phase): Cell => ({
  fault: { name: 'clock set back by a day', on: 'host', ...setBack(phase) },
  phase,
  world: 'local',
  ends: {
    ...passes,
    check: (scene) => {
      checkClockFell(scene);
      const { startedAt, endedAt } = readRun(scene.place.runFile).run;
      expect(Date.parse(endedAt!)).toBeGreaterThanOrEqual(Date.parse(startedAt));
    },
  },
  chosen: phase === 'timed',
});

const nobody = ['setpriv', '--reuid=65534', '--clear-groups'];

const limited: readonly Cell[] = [
  {
    fault: { name: '64 open files', on: 'every process', under: ['prlimit', '--nofile=64:64'] },
    phase: 'join',
    world: 'local',
    ends: passes,
  },
  {
    fault: {
      ...{ name: '64 open files', on: 'every process' },
      ...{ under: ['prlimit', '--nofile=64:64'], options: ['--ranks', '32'] },
    },
    phase: 'join',
    world: 'local',
    runs: '32 local ranks',
    ends: {
      exit: 1,
      says: [/rank \d+ cannot be started: too many open files/, /ulimit -n 65536/],
    },
    promised: 2 * restOfJob,
    chosen: true,
  },
  {
    fault: {
      name: 'locked memory denied',
      on: 'every process',
      under: ['prlimit', '--memlock=0', ...nobody],
    },
    phase: 'set-up',
    world: 'local',
    ends: { ...passes, says: [/not page-locked/] },
  },
];

/** Somebody else listens where rank 0 should. */
function portTaken(): Cell {
  const server = createServer((socket) => socket.destroy());
  const fault: Fault = {
    name: 'port taken',
    on: 'port',
    timeout: 6,
    before: async (scene) => {
      server.listen(scene.port, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
    },
    tidy: () => void server.close(),
  };
  return {
    fault,
    phase: 'join',
    world: 'launched',
    ends: { exit: 1, says: [/rank 0 cannot listen: port N on this host is in use/] },
    chosen: true,
  };
}

export const surroundingCells: readonly Cell[] = [
  ...withFirst.map(full),
  ...withFirst.map(readOnly),
  ...withFirst.map(deleted),
  ...(['set-up', 'first-row', ...inJob.slice(2)] as const).map(second),
  ...inJob.map(clockBack),
  ...limited,
  ...sharedMemoryCells,
  portTaken(),
];
