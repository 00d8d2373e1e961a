import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { isAlive, readProc } from '../benchmarks/weft.js';
import { blameOn, missed } from './blame.js';
import {
  type Cell,
  type Fault,
  type FileEnding,
  fileAt,
  fileWithoutRankZero,
  inJob,
  type Phase,
  passes,
  withFirst,
} from './cell.js';
import { memoryLimit } from './memory-limit.js';
import { checkAbortedReport } from './page.js';
import type { Scene } from './scene.js';

/** In the timed loop all ranks are in the middle of transfers; elsewhere one of them stands still. */
export const modeIn = (phase: Phase) =>
  phase === 'timed' || phase === 'first-row' ? ('forever' as const) : ('hold' as const);

/** Who hears of the fault while rank 0 writes the last row may or may not be in time; the last line says what was. */
const outcomes = (phase: Phase): FileEnding['outcome'] => {
  if (phase === 'write-out') return ['passed', 'aborted'];
  return phase === 'footer' ? ['passed'] : ['aborted'];
};

export const toRank = (signal: NodeJS.Signals, rank: number, phase: Phase): Fault => ({
  name: signal,
  on: `rank ${rank}`,
  mode: modeIn(phase),
  strike: ({ place }) => void process.kill(place.pidOf(rank), signal),
});

/** Before anybody goes on: what happens next does not depend on who is quicker. */
export const untilGone = async (...pids: number[]): Promise<void> => {
  for (const pid of pids) while (readState(pid) !== 'Z') await sleep(5);
};

const anyRank = (cellOf: (rank: number, phase: Phase) => Cell, phases = inJob): Cell[] =>
  [0, 2].flatMap((rank) => phases.map((phase) => cellOf(rank, phase)));

/** Where rank 0 lives on, its file says who is missing; the last line is beyond that. */
const fileOfKilled = (rank: number, phase: Phase): FileEnding | undefined =>
  rank === 0
    ? fileWithoutRankZero(phase)
    : fileAt(phase, /rank 2 on host \S+ .*was lost/, outcomes(phase));

const killed = (rank: number, phase: Phase): Cell => ({
  fault: {
    ...toRank('SIGKILL', rank, phase),
    strike: async ({ place }) => {
      process.kill(place.pidOf(rank), 'SIGKILL');
      await untilGone(place.pidOf(rank));
    },
  },
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [new RegExp(`rank ${rank} was killed by SIGKILL`)],
    silent: blameOn(rank),
    file: fileOfKilled(rank, phase),
  },
  chosen: rank === 2 ? ['timed', 'first-row'].includes(phase) : phase === 'verify',
});

/**
 * A rank first asks its parent for half a second whether the whole job was told. A job that has measured and written
 * every row may be done by then: nothing is lost, and nobody needs to hear of it.
 */
const terminated = (rank: number, phase: Phase): Cell => {
  const cause = new RegExp(`rank ${rank} was (stopped|killed) by SIGTERM`);
  const told = new RegExp(`rank ${rank} was stopped by SIGTERM`);
  // What is left to do must take longer.
  const linger = phase === 'set-up' || phase === 'verify' || phase === 'calibrate';
  return {
    fault: { ...toRank('SIGTERM', rank, phase), ...(linger && { mode: 'linger' }) },
    phase,
    world: 'local',
    ends: {
      exit: 1,
      says: [cause],
      silent: blameOn(rank),
      file: fileAt(phase, told, outcomes(phase)),
      ...(['write-out', 'footer'].includes(phase) && { or: passes }),
    },
  };
};

/** Silence ends a job when something is waited for as long as `--timeout` says. */
const stopped = (rank: number, phase: Phase): Cell => ({
  fault: { ...toRank('SIGSTOP', rank, phase), timeout: 6 },
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [missed(rank)],
    silent: missing(2 - rank),
    file: fileAt(phase, new RegExp(`rank ${rank}`), outcomes(phase)),
  },
  // `--timeout`; after the last row, 5 s after the others; then it has 2 s to end.
  promised: phase === 'write-out' || phase === 'footer' ? 6 + 5 + 2 : 6 + 2,
  chosen: rank === 2 && phase === 'verify',
});

/** The rank that was stopped misses the others when it wakes up. */
const missing = (rank: number): RegExp => new RegExp(`rank [1${rank}] did not`);

const outOfMemory = (rank: number, phase: Phase): Cell => {
  const { group, around } = memoryLimit();
  return {
    fault: {
      ...{ name: 'out of memory', on: `rank ${rank}`, mode: 'eat', ...around },
      strike: async ({ place }) => {
        place.feed(group);
        await untilGone(place.pidOf(rank));
      },
    },
    phase,
    world: 'local',
    ends: {
      exit: 1,
      says: [new RegExp(`rank ${rank} was killed by SIGKILL`), /out-of-memory killer/],
      silent: blameOn(rank),
      file: fileOfKilled(rank, phase),
    },
    chosen: rank === 2 && phase === 'set-up',
  };
};

interface Target {
  readonly on: 'launcher' | 'process group';
  /** For `kill`. */
  number(scene: Scene): number;
}

const targets: readonly Target[] = [
  { on: 'launcher', number: ({ launcher }) => launcher },
  { on: 'process group', number: ({ launcher }) => -launcher },
];

const toTarget = (signal: NodeJS.Signals, { on, number }: Target, phase: Phase): Fault => ({
  name: signal,
  on,
  mode: modeIn(phase),
  strike: (scene) => void process.kill(number(scene), signal),
});

/** The job was stopped, not a rank. */
const told = (signal: NodeJS.Signals, target: Target, phase: Phase): Cell => ({
  fault: toTarget(signal, target, phase),
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [new RegExp(`^weft: stopped by ${signal}$`, 'm')],
    silent: /rank \d.* (failed|was (stopped|killed|lost))/,
    file: fileAt(phase, new RegExp(`^the job was stopped by ${signal}$`), outcomes(phase)),
  },
  promised: 2,
  chosen:
    target.on === 'launcher'
      ? signal === 'SIGHUP' && phase === 'timed'
      : signal === 'SIGINT' && phase === 'timed',
});

/** Nobody is left to say anything; the report of what was measured does. */
const gone = (target: Target, phase: Phase): Cell => ({
  fault: {
    ...toTarget('SIGKILL', target, phase),
    strike: async (scene) => {
      process.kill(target.number(scene), 'SIGKILL');
      await untilGone(...[0, 1, 2].map((rank) => scene.place.pidOf(rank)));
    },
  },
  phase,
  world: 'local',
  ends: {
    ...{ exit: 'SIGKILL', says: [], file: fileWithoutRankZero(phase), sweptByNextRun: true },
    check: checkAbortedReport,
  },
  chosen: target.on === 'launcher' && phase === 'timed',
});

/** The ranks finish without it; it ends when it continues. */
const paused = (phase: Phase): Cell => ({
  fault: {
    ...toTarget('SIGSTOP', targets[0]!, phase),
    mode: 'hold',
    after: async ({ place, launcher }) => {
      while (readState(place.pidOf(0)) !== 'Z') await sleep(20);
      process.kill(launcher, 'SIGCONT');
    },
  },
  phase,
  world: 'local',
  ends: passes,
});

/** As Ctrl-Z and `fg` do, for longer than `--timeout`: nobody is missed who could not run. */
const suspended = (phase: Phase): Cell => ({
  fault: {
    ...toTarget('SIGSTOP', targets[1]!, phase),
    timeout: 8,
    after: async ({ launcher }) => {
      await sleep(10_000);
      process.kill(-launcher, 'SIGCONT');
      if (phase !== 'timed') return;
      await sleep(2000);
      expect(isAlive(launcher), 'still in the timed loop').toBe(true);
      process.kill(launcher, 'SIGINT');
    },
  },
  phase,
  world: 'local',
  ends: {
    ...(phase === 'timed'
      ? {
          exit: 1,
          says: [/stopped by SIGINT/],
          file: fileAt(phase, /the job was stopped by SIGINT/),
        }
      : passes),
    silent: /timed out|was lost|does not answer/,
  },
});

/** The state letter of a process; Z where it has ended and nobody has asked how. */
const readState = (pid: number): string => /\) (\S)/.exec(readProc(`${pid}/stat`))?.[1] ?? 'Z';

export const signalCells: readonly Cell[] = [
  ...anyRank(killed, withFirst),
  ...anyRank(terminated, withFirst),
  ...anyRank(stopped),
  ...anyRank(outOfMemory),
  ...targets.flatMap((target) =>
    (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).flatMap((signal) =>
      inJob.map((phase) => told(signal, target, phase)),
    ),
  ),
  ...targets.flatMap((target) => inJob.map((phase) => gone(target, phase))),
  ...inJob.map(paused),
  ...inJob.map(suspended),
];
