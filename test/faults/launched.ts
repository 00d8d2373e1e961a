import { type Cell, fileAt, fileWithoutRankZero, type Phase, passes } from './cell.js';
import { missed, toRank } from './signals.js';

/** Ranks of another launcher have no parent of ours: the rendezvous alone tells them. */
const launched = (signal: NodeJS.Signals, rank: number, phase: Phase): Cell => {
  const victim = `rank ${rank}( on host HOST \\(pid N\\))?`;
  const absent = `missing: ${victim}|${victim} cannot be reached`;
  const cause = {
    SIGKILL: new RegExp(`${victim} was lost|${absent}`),
    SIGTERM: new RegExp(`${victim} was stopped by SIGTERM|${absent}`),
    SIGSTOP: missed(rank),
  }[signal as 'SIGKILL'];
  const writerEnds = rank === 0 && signal !== 'SIGTERM';
  // All is measured: while rank 0 lives, it may be done before it hears of anything. It alone prints.
  const isLate = phase === 'write-out' && !writerEnds;
  const done = rank === 0 ? { ...passes, says: [] } : passes;
  const file = writerEnds
    ? fileWithoutRankZero(phase)
    : fileAt(phase, new RegExp(`rank ${rank}`), isLate ? ['passed', 'aborted'] : ['aborted']);
  return {
    fault: {
      ...toRank(signal, rank, phase),
      timeout: signal === 'SIGSTOP' || phase === 'join' ? 6 : 20,
    },
    phase,
    world: 'launched',
    ends: { exit: 1, says: [cause], file, sweptByNextRun: true, ...(isLate && { or: done }) },
    deadline: 30,
    chosen: signal === 'SIGKILL' && rank === 0 && phase === 'timed',
  };
};

const phasesOfLaunched: readonly Phase[] = [
  ...(['join', 'set-up', 'verify', 'calibrate', 'timed', 'write-out'] as const),
];

export const launchedCells: readonly Cell[] = (['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const).flatMap(
  (signal) =>
    [0, 2].flatMap((rank) => phasesOfLaunched.map((phase) => launched(signal, rank, phase))),
);
