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
  /** What it said of its own failure over the report pipe. */
  readonly report: string | undefined;
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

const bad = (exit: RankExit): boolean => exit.exitCode !== 0;

/**
 * Who is to blame, from the exits in the order they were seen. A rank that reported its own failure comes
 * first: others may have noticed and exited before it. Then the first that a signal killed, then the first
 * that failed. Ranks that ended after the stop are consequences.
 */
export function firstFailure(inOrder: readonly RankExit[]): RankExit | undefined {
  const reported = inOrder.find((exit) => exit.report !== undefined && bad(exit));
  if (reported !== undefined) return reported;
  const causes = inOrder.filter((exit) => bad(exit) && !exit.afterStop);
  return causes.find((exit) => exit.signal !== undefined) ?? causes[0] ?? inOrder.find(bad);
}

/** "rank 3 was killed by SIGKILL" or "rank 3 exited with code 1: …". */
export function describeExit(exit: RankExit): string {
  const how =
    exit.signal === undefined
      ? `exited with code ${exit.exitCode}`
      : `was killed by ${exit.signal}`;
  const why = exit.report ?? exit.lastWords;
  return `rank ${exit.rank} ${how}${why === '' ? '' : `: ${why}`}`;
}
