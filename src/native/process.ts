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
 * there is none. Field 22, counted after the last parenthesis.
 */
export function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
