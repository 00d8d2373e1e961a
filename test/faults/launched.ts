import { blameOn, missed } from './blame.js';
import { type Cell, fileAt, fileWithoutRankZero, type Phase, passes } from './cell.js';
import { toRank } from './signals.js';

const timeoutToJoin = 6;

/** Ranks of another launcher have no parent of ours: the rendezvous alone tells them. */
const launched = (signal: NodeJS.Signals, rank: number, phase: Phase): Cell => {
  const isMissed = signal === 'SIGSTOP' || phase === 'join';
  const writerEnds = rank === 0 && (signal === 'SIGKILL' || signal === 'SIGSTOP');
  // Every row is measured, and they are all in the file: while rank 0 lives, it may be done before it hears of anything.
  const isLate = phase === 'write-out' && !writerEnds;
  // Rank 0 alone prints.
  const done = rank === 0 ? { ...passes, says: [] } : passes;
  const file = writerEnds
    ? fileWithoutRankZero(phase)
    : fileAt(phase, new RegExp(`rank ${rank}`), isLate ? ['passed', 'aborted'] : ['aborted']);
  return {
    fault: { ...toRank(signal, rank, phase), timeout: isMissed ? timeoutToJoin : 20 },
    phase,
    world: 'launched',
    ends: {
      exit: 1,
      says: [isMissed ? missed(rank) : causeOf(signal, rank)],
      ...{ silent: blameOn(rank), file, sweptByNextRun: true },
      ...(isLate && { or: done }),
    },
    promised: isMissed ? timeoutToJoin : 0,
    chosen: signal === 'SIGKILL' && rank === 0 && phase === 'timed',
  };
};

/** A rank that has joined is known by its host. */
const causeOf = (signal: NodeJS.Signals, rank: number): RegExp => {
  const who = `rank ${rank} on host HOST \\(pid N\\)`;
  const how =
    signal === 'SIGKILL' ? 'was lost' : `failed: ABORTED: rank ${rank} was stopped by ${signal}`;
  return new RegExp(`${who} ${how}`);
};

/** The others have nothing to wait for any more, and end before rank 0 writes the last line. */
const withoutLastLine = (signal: NodeJS.Signals): Cell => ({
  fault: toRank(signal, 0, 'footer'),
  phase: 'footer',
  world: 'launched',
  ends: { exit: 0, says: [], file: fileWithoutRankZero('footer'), sweptByNextRun: true },
});

const phasesOfLaunched: readonly Phase[] = [
  ...(['join', 'set-up', 'verify', 'calibrate', 'timed', 'write-out'] as const),
];

export const launchedCells: readonly Cell[] = [
  ...(['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const).flatMap((signal) =>
    [0, 2].flatMap((rank) => phasesOfLaunched.map((phase) => launched(signal, rank, phase))),
  ),
  ...(['SIGINT', 'SIGHUP'] as const).flatMap((signal) =>
    [0, 2].map((rank) => launched(signal, rank, 'timed')),
  ),
  ...(['SIGKILL', 'SIGSTOP'] as const).map(withoutLastLine),
];
