import { addon } from './addon.js';

/**
 * From now on the kernel kills this process when its parent dies. False means that `parentPid` is no longer
 * the parent: it died first, and the caller must exit by itself.
 */
export const endWithParent = (parentPid: number): boolean => addon().endWithParent(parentPid);

/** Restricts this process's main thread, and the threads it starts later, to these cores. */
export const pinToCores = (cores: number[]): void => addon().pinToCores(cores);

/** The cores this process may run on. */
export const allowedCores = (): number[] => addon().allowedCores();
