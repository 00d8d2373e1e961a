import { openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isWeftError, messageOf, WeftError } from '../../errors.js';
import { endWithParent, pinToCores } from '../../native/process.js';

/** How `spawnRanks` and a rank it starts talk, apart from the rendezvous. */
export const reportFd = 3;
export const listenFd = 4;

let reportsTo: number | undefined;
/** The socket to the parent: reports go out, and the reason for which it ends the job comes in. */
let parentFd: number | undefined;

/**
 * The first thing a local rank does: it ties its life to its parent's and keeps to its cores. Does nothing
 * in a process that `spawnRanks` did not start. A rank whose parent is gone already exits here. What it
 * reads is taken out of the environment, so that programs this rank starts are not mistaken for ranks.
 */
export function enterRank(env: NodeJS.ProcessEnv = process.env): void {
  const { WEFT_PARENT, WEFT_CORES, WEFT_REPORT_FD, WEFT_REPORT_FILE } = env;
  delete env.WEFT_REPORT_FILE;
  if (WEFT_REPORT_FILE !== undefined) reportsTo = openReport(WEFT_REPORT_FILE);
  if (WEFT_PARENT === undefined) return;
  delete env.WEFT_PARENT;
  delete env.WEFT_CORES;
  delete env.WEFT_REPORT_FD;
  if (!endWithParent(Number(WEFT_PARENT))) {
    process.stderr.write(
      `weft: rank ${env.WEFT_RANK} exits: its parent process ${WEFT_PARENT} is gone\n`,
    );
    process.exit(1);
  }
  // A terminal that closes tells all its processes, also those of a parent that nohup protects: the parent decides.
  process.on('SIGHUP', () => {});
  if (WEFT_CORES) pinToCores(WEFT_CORES.split(',').map(Number));
  if (WEFT_REPORT_FD !== undefined) reportsTo = parentFd = Number(WEFT_REPORT_FD);
}

/** What the parent says before it passes a signal on. */
export const stopWord = (signal: NodeJS.Signals): string => `stopped by ${signal}\n`;

let stoppedBy: Promise<NodeJS.Signals | undefined> | undefined;

/**
 * For a rank that got a signal: the one that ended its whole job, if the parent says so within this time. A terminal
 * signals ranks and parent at once, and the parent signals ranks: neither is about this rank.
 */
export function jobStoppedBy(waitMs: number): Promise<NodeJS.Signals | undefined> {
  const fd = parentFd;
  if (fd === undefined) return Promise.resolve(undefined);
  stoppedBy ??= new Promise((resolve) => {
    // Stays open for reports until the parent ends.
    const socket = new Socket({ fd, readable: true, allowHalfOpen: true }).unref();
    setTimeout(resolve, waitMs, undefined);
    socket.on('error', () => {});
    socket.on('close', () => {
      reportsTo = undefined;
    });
    socket.on('data', (text) => {
      const [, signal] = /stopped by (SIG\w+)/.exec(String(text)) ?? [];
      if (signal !== undefined) resolve(signal as NodeJS.Signals);
    });
  });
  return stoppedBy;
}

/** A launcher's ranks inherit no pipe: they report into a file of the process that started the launcher. */
function openReport(file: string): number | undefined {
  try {
    return openSync(file, 'a');
  } catch {
    return undefined; // that process is gone, or on another host
  }
}

/**
 * What a rank tells its parent: why it failed, that it is about to exit with this code and has said why, or that it ends
 * by itself when it is told to, within so many milliseconds.
 */
type RankReport =
  | { readonly message: string }
  | { readonly exitCode: number }
  | { readonly patienceMs: number };

/** Tells the parent that this rank failed by itself. Synchronous: it is said before others can know. */
export function reportFailure(error: unknown): void {
  if (isWeftError(error, 'PEER_LOST') || isWeftError(error, 'ABORTED')) return; // somebody else's failure
  const code = error instanceof WeftError ? `${error.code}: ` : '';
  const message = messageOf(error);
  report({ message: `${code}${message}`.slice(0, 2000) });
}

/** Tells the parent that this rank has said why it ends with this code. Any other non-zero exit is unexplained. */
export const reportExit = (exitCode: number): void => report({ exitCode });

/** Tells the parent how long this rank takes to end when it gets a signal. Its exit code then counts. */
export const reportPatience = (patienceMs: number): void => report({ patienceMs });

function report(what: RankReport): void {
  if (reportsTo === undefined) return;
  try {
    writeSync(reportsTo, `${JSON.stringify(what)}\n`);
  } catch {
    // The parent is gone; so will we be.
  }
}

/** The reports in what a rank wrote; a line that was cut is left out. */
export function parseReports(text: string): RankReport[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as RankReport];
    } catch {
      return [];
    }
  });
}
