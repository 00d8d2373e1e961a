import { writeSync } from 'node:fs';
import { isWeftError, WeftError } from '../errors.js';
import { endWithParent, pinToCores } from '../native/process.js';
import type { Environment } from './identity.js';

/** How `spawnRanks` and a rank it starts talk, apart from the rendezvous. */
export const reportFd = 3;
export const listenFd = 4;

let entered = false;

/**
 * The first thing a local rank does: it ties its life to its parent's and keeps to its cores. Does nothing
 * in a process that `spawnRanks` did not start. A rank whose parent is gone already exits here.
 */
export function enterRank(env: Environment = process.env): void {
  if (entered || env.WEFT_PARENT === undefined) return;
  entered = true;
  if (!endWithParent(Number(env.WEFT_PARENT))) process.exit(1);
  if (env.WEFT_CORES) pinToCores(env.WEFT_CORES.split(',').map(Number));
}

/** What a rank tells its parent, so that the cause is blamed and not whoever exits first. */
export interface FailureReport {
  readonly message: string;
}

/** Tells the parent that this rank failed by itself. Synchronous: it is said before others can know. */
export function reportFailure(env: Environment, error: unknown): void {
  if (env.WEFT_REPORT_FD === undefined) return;
  if (isWeftError(error, 'PEER_LOST') || isWeftError(error, 'ABORTED')) return; // somebody else's failure
  const code = error instanceof WeftError ? `${error.code}: ` : '';
  const report: FailureReport = {
    message: `${code}${error instanceof Error ? error.message : String(error)}`.slice(0, 2000),
  };
  try {
    writeSync(Number(env.WEFT_REPORT_FD), `${JSON.stringify(report)}\n`);
  } catch {
    // The parent is gone; so will we be.
  }
}
