import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { isAlive, readProc } from '../benchmarks/weft.js';
import { type Cell, type Fault, fileAt, type Phase } from './cell.js';
import { memoryLimit } from './memory-limit.js';
import type { Scene } from './scene.js';

const inJob: readonly Phase[] = [
  ...(['join', 'set-up', 'verify', 'calibrate', 'timed'] as const),
  ...(['write-out', 'footer'] as const),
];
const ends = ['write-out', 'footer'];

/** In the timed loop all ranks are in the middle of transfers; elsewhere one of them stands still. */
const modeIn = (phase: Phase) => (phase === 'timed' ? ('forever' as const) : ('hold' as const));

/** Where all rows are measured, the file need not know what became of the ranks. */
const outcomes = (phase: Phase): readonly ('passed' | 'aborted')[] =>
  ends.includes(phase) ? ['passed', 'aborted'] : ['aborted'];

const toRank = (signal: NodeJS.Signals, rank: number, phase: Phase): Fault => ({
  name: signal,
  on: `rank ${rank}`,
  mode: modeIn(phase),
  strike: ({ place }) => void process.kill(place.pidOf(rank), signal),
});

const anyRank = (cellOf: (rank: number, phase: Phase) => Cell): Cell[] =>
  [0, 2].flatMap((rank) => inJob.map((phase) => cellOf(rank, phase)));

const killed = (rank: number, phase: Phase): Cell => ({
  fault: toRank('SIGKILL', rank, phase),
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [new RegExp(`rank ${rank} was killed by SIGKILL`)],
    file: fileAt(
      phase,
      rank === 0 || ends.includes(phase) ? undefined : /rank 2 .*was lost/,
      outcomes(phase),
    ),
  },
  chosen: rank === 2 ? ['timed', 'write-out'].includes(phase) : phase === 'verify',
});

const terminated = (rank: number, phase: Phase): Cell => ({
  fault: toRank('SIGTERM', rank, phase),
  phase,
  world: 'local',
  ends: {
    exit: 1,
    mayPass: ends.includes(phase),
    says: [new RegExp(`rank ${rank} was (stopped|killed) by SIGTERM`)],
    file: fileAt(
      phase,
      ends.includes(phase) ? undefined : /was stopped by SIGTERM/,
      outcomes(phase),
    ),
  },
});

/** Silence ends a job when something is waited for as long as `--timeout` says. */
const stopped = (rank: number, phase: Phase): Cell => ({
  fault: { ...toRank('SIGSTOP', rank, phase), timeout: 6 },
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [missed(rank)],
    silent: blameOn(2 - rank),
    file: fileAt(
      phase,
      ends.includes(phase) ? undefined : new RegExp(`rank ${rank}`),
      outcomes(phase),
    ),
  },
  deadline: 30,
  chosen: rank === 2 && phase === 'verify',
});

/** What ranks say of one that does not answer. */
const missed = (rank: number): RegExp => {
  const who = `rank ${rank}( on host HOST \\(pid N\\))?`;
  const silence = 'does not answer|was lost: it has been silent|cannot be reached';
  const transfers = 'did not (receive|reach|send|answer)|sent nothing';
  return new RegExp(`missing: ${who}|${who} (${silence}|${transfers}|was stopped)`);
};

/** The rank that was stopped misses the others when it wakes up. */
const blameOn = (rank: number): RegExp => new RegExp(`rank [1${rank}] did not`);

const outOfMemory = (rank: number, phase: Phase): Cell => ({
  fault: { name: 'out of memory', on: `rank ${rank}`, mode: 'eat', ...memoryLimit() },
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [new RegExp(`rank ${rank} was killed by SIGKILL`), /out-of-memory killer/],
    file: fileAt(phase, undefined, outcomes(phase)),
  },
  chosen: rank === 2 && phase === 'set-up',
});

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

const told = (signal: NodeJS.Signals, target: Target, phase: Phase): Cell => ({
  fault: toTarget(signal, target, phase),
  phase,
  world: 'local',
  ends: {
    exit: 1,
    says: [new RegExp(`stopped by ${signal}`)],
    file: fileAt(phase, ends.includes(phase) ? undefined : /stopped by SIG/, outcomes(phase)),
  },
  chosen:
    target.on === 'launcher'
      ? signal === 'SIGHUP' && phase === 'timed'
      : signal === 'SIGINT' && phase === 'timed',
});

/** Nobody is left to say anything. */
const gone = (target: Target, phase: Phase): Cell => ({
  fault: toTarget('SIGKILL', target, phase),
  phase,
  world: 'local',
  ends: {
    exit: 'SIGKILL',
    says: [],
    file: fileAt(phase, undefined, outcomes(phase)),
    sweptByNextRun: true,
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
  ends: { exit: 0, says: [/verified: .* none wrong/], file: { outcome: ['passed'], rows: 2 } },
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
      ? { exit: 1, says: [/stopped by SIGINT/], file: fileAt(phase) }
      : { exit: 0, says: [/verified: .* none wrong/], file: { outcome: ['passed'], rows: 2 } }),
    silent: /timed out|was lost|does not answer/,
  },
});

/** Ranks of another launcher have no parent of ours: the rendezvous alone tells them. */
const launched = (signal: NodeJS.Signals, rank: number, phase: Phase): Cell => {
  const victim = `rank ${rank}( on host HOST \\(pid N\\))?`;
  const absent = `missing: ${victim}|${victim} cannot be reached`;
  const cause = {
    SIGKILL: new RegExp(`${victim} was lost|${absent}`),
    SIGTERM: new RegExp(`${victim} was stopped by SIGTERM|${absent}`),
    SIGSTOP: missed(rank),
  }[signal as 'SIGKILL'];
  const file =
    rank === 0 && signal !== 'SIGTERM' ? fileAt(phase) : fileAt(phase, new RegExp(`rank ${rank}`));
  return {
    fault: {
      ...toRank(signal, rank, phase),
      timeout: signal === 'SIGSTOP' || phase === 'join' ? 6 : 20,
    },
    phase,
    world: 'launched',
    ends: { exit: 1, says: [cause], file, sweptByNextRun: true },
    deadline: 30,
    chosen: signal === 'SIGKILL' && rank === 0 && phase === 'timed',
  };
};

const phasesOfLaunched: readonly Phase[] = ['join', 'set-up', 'verify', 'timed'];

/** The state letter of a process; Z where it has ended and nobody has asked how. */
const readState = (pid: number): string => /\) (\S)/.exec(readProc(`${pid}/stat`))?.[1] ?? 'Z';

export const signalCells: readonly Cell[] = [
  ...anyRank(killed),
  ...anyRank(terminated),
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
  ...(['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const).flatMap((signal) =>
    [0, 2].flatMap((rank) => phasesOfLaunched.map((phase) => launched(signal, rank, phase))),
  ),
];
