import { writeSync } from 'node:fs';
import { isWeftError, WeftError } from '../errors.js';
import { endWithParent, pinToCores } from '../native/process.js';

/** How `spawnRanks` and a rank it starts talk, apart from the rendezvous. */
export const reportFd = 3;
export const listenFd = 4;

let reportsTo: number | undefined;

/**
 * The first thing a local rank does: it ties its life to its parent's and keeps to its cores. Does nothing
 * in a process that `spawnRanks` did not start. A rank whose parent is gone already exits here. What it
 * reads is taken out of the environment, so that programs this rank starts are not mistaken for ranks.
 */
export function enterRank(env: NodeJS.ProcessEnv = process.env): void {
  const { WEFT_PARENT, WEFT_CORES, WEFT_REPORT_FD } = env;
  if (WEFT_PARENT === undefined) return;
  delete env.WEFT_PARENT;
  delete env.WEFT_CORES;
  delete env.WEFT_REPORT_FD;
  if (!endWithParent(Number(WEFT_PARENT))) {
    process.stderr.write(
      `weft: rank ${env.WEFT_RANK} ends: process ${WEFT_PARENT}, which started it, is not its parent any more\n`,
    );
    process.exit(1);
  }
  if (WEFT_CORES) pinToCores(WEFT_CORES.split(',').map(Number));
  if (WEFT_REPORT_FD !== undefined) reportsTo = Number(WEFT_REPORT_FD);
}

/** What a rank tells its parent, so that the cause is blamed and not whoever exits first. */
export interface FailureReport {
  readonly message: string;
}

/** Tells the parent that this rank failed by itself. Synchronous: it is said before others can know. */
export function reportFailure(error: unknown): void {
  if (reportsTo === undefined) return;
  if (isWeftError(error, 'PEER_LOST') || isWeftError(error, 'ABORTED')) return; // somebody else's failure
  const code = error instanceof WeftError ? `${error.code}: ` : '';
  const report: FailureReport = {
    message: `${code}${error instanceof Error ? error.message : String(error)}`.slice(0, 2000),
  };
  try {
    writeSync(reportsTo, `${JSON.stringify(report)}\n`);
  } catch {
    // The parent is gone; so will we be.
  }
}
