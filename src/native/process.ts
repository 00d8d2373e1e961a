import { readFileSync } from 'node:fs';
import { addon } from './addon.js';

/**
 * From now on the kernel kills this process when its parent dies. False means that `parentPid` is no longer
 * the parent: it died first, and the caller must exit by itself.
 */
export const endWithParent = (parentPid: number): boolean => addon().endWithParent(parentPid);

/** Restricts this process's main thread, and the threads it starts later, to these cores. */
export const pinToCores = (cores: number[]): void => addon().pinToCores(cores);

export const allowedCores = (): number[] => addon().allowedCores();

/**
 * When a process started, in clock ticks since boot: tells it from a later one with the same number. Undefined when
 * there is none.
 */
export const startTime = (pid: number): string | undefined => statusField(pid, 22);

/** Whether a signal has stopped a process, as SIGSTOP and Ctrl-Z do; a debugger stops in another way. */
export const isStopped = (pid: number): boolean => statusField(pid, 3) === 'T';

/** Fields of proc(5); those from 3 on are counted after the last parenthesis. */
function statusField(pid: number, field: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field - 3];
  } catch {
    return undefined;
  }
}

/** The signals by which a user ends a job. Where nohup had SIGHUP ignored, it stays so: a handler would undo that. */
export function userSignals(): NodeJS.Signals[] {
  const [, ignored = '0'] =
    /^SigIgn:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const hangup = (BigInt(`0x${ignored}`) & 1n) === 0n;
  return ['SIGINT', 'SIGTERM', ...(hangup ? (['SIGHUP'] as const) : [])];
}

/** How many processes of this machine the kernel has killed for lack of memory; 0 where it does not say. */
export function oomKills(): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
}
