/** How one rank ended. */
export interface RankExit {
  readonly rank: number;
  readonly pid: number | undefined;
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** When the parent saw it end, on its monotonic clock. */
  readonly atMs: number;
  /** The end of its stderr, as far as it went through the parent. */
  readonly lastWords: string;
  /** What it said of its own failure over the report pipe, and when that came. */
  readonly report: string | undefined;
  readonly reportAtMs: number | undefined;
  /** The exit code with which it said it would end, having said why. */
  readonly announced?: number | undefined;
  /** The kernel has killed for lack of memory while the job ran. */
  readonly lacksMemory?: boolean;
  /** It was stopped, as by SIGSTOP, when others had ended, until the parent ended it. */
  readonly stopped?: boolean;
  /** The parent had already told the ranks to end. */
  readonly afterStop: boolean;
}

/** How a local job ended. */
export interface Outcome {
  readonly ok: boolean;
  /** The first rank that failed: the cause, not its consequences. */
  readonly failure: RankExit | undefined;
  /** The signal by which the user ended the job. */
  readonly interrupted: NodeJS.Signals | undefined;
  /** By rank. */
  readonly exits: readonly RankExit[];
}

const bad = (exit: RankExit): boolean => exit.exitCode !== 0 || exit.stopped === true;

/** Events this close together may have been seen in the wrong order. */
const sameMomentMs = 50;

/**
 * Who is to blame: whose failure was seen first, by its own report or by its end. A rank's report comes
 * before others can know of it, so ranks that notice and exit faster are not mistaken for the cause. At the
 * same moment a rank killed by a signal is the cause: the others notice a death within microseconds. SIGKILL
 * that was not ours is the cause whenever it is seen: no rank does that to itself.
 */
export function firstFailure(exits: readonly RankExit[]): RankExit | undefined {
  const failedAt = (exit: RankExit) => exit.reportAtMs ?? exit.atMs;
  const failed = exits.filter(bad).sort((a, b) => failedAt(a) - failedAt(b));
  const causes = failed.filter(
    (exit) => !exit.afterStop || exit.report !== undefined || exit.stopped,
  );
  const first = causes[0] ?? failed[0];
  if (first === undefined) return undefined;
  const killed = causes.filter((exit) => exit.signal !== undefined && !exit.afterStop);
  return (
    killed.find(({ signal }) => signal === 'SIGKILL') ??
    killed.find((exit) => failedAt(exit) - failedAt(first) < sameMomentMs) ??
    first
  );
}

/** "rank 3 was killed by SIGKILL" or "rank 3 exited with code 1: …". */
export function describeExit(exit: RankExit): string {
  if (exit.stopped)
    return `rank ${exit.rank} was stopped by a signal; Weft ended it after the others`;
  const how =
    exit.signal === undefined
      ? `exited with code ${exit.exitCode}`
      : `was killed by ${exit.signal}`;
  const why = exit.report ?? exit.lastWords;
  const bus = exit.signal === 'SIGBUS' ? busError : '';
  const memory = exit.signal === 'SIGKILL' && exit.lacksMemory ? outOfMemory : '';
  return `rank ${exit.rank} ${how}${memory}${why === '' ? '' : `: ${why}`}${bus}`;
}

const outOfMemory =
  ", probably by the kernel's out-of-memory killer, which ended a process on this host during the job. " +
  'Use smaller sizes or fewer ranks, or raise the memory limit of the container or the job.';

/** Writing to a mapped file whose file system is full: no call fails, the kernel kills. */
const busError =
  '\n/dev/shm is probably full: the kernel kills a process that writes to shared memory for which no space is left. ' +
  'Check `df -h /dev/shm`; in a container, enlarge it (Docker: --shm-size=2g).';
