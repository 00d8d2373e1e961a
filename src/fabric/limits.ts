import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { read, sysfsRoot } from '../topology/sysfs-files.js';

/** What the system allows this process. */
export interface Limits {
  readonly cores: number;
  readonly memoryBytes: number;
  /** Undefined: no limit. */
  readonly lockedMemoryBytes: number | undefined;
  /** Undefined: there is none. */
  readonly sharedMemoryFreeBytes: number | undefined;
  readonly openFiles: number | undefined;
  readonly transparentHugePages: string;
}

export function readLimits(sysfs = sysfsRoot()): Limits {
  return {
    cores: availableParallelism(),
    memoryBytes: kiB(readFileSync('/proc/meminfo', 'utf8'), /^MemTotal:\s+(\d+) kB$/m),
    lockedMemoryBytes: limit('Max locked memory'),
    sharedMemoryFreeBytes: freeOn('/dev/shm'),
    openFiles: limit('Max open files'),
    transparentHugePages: hugePages(sysfs),
  };
}

/** Bit of CAP_IPC_LOCK. Root has it, except in containers. */
const ipcLock = 1n << 14n;

/** Whether the limit on locked memory does not apply to this process. */
export function mayLockMore(): boolean {
  const [, mask] = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return mask !== undefined && (BigInt(`0x${mask}`) & ipcLock) !== 0n;
}

function freeOn(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

const kiB = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0) * 1024;

function limit(name: string): number | undefined {
  const line = new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(
    readFileSync('/proc/self/limits', 'utf8'),
  );
  return line?.[1] === undefined || line[1] === 'unlimited' ? undefined : Number(line[1]);
}

function hugePages(sysfs: string): string {
  const text = read(`${sysfs}/kernel/mm/transparent_hugepage/enabled`);
  return text === undefined ? 'unavailable' : (/\[(\w+)\]/.exec(text)?.[1] ?? 'unknown');
}

/** What Node and libfabric hold open before there is a connection. */
export const ownFiles = 32;

/** What an endpoint of the shm provider takes of /dev/shm, and what must be free for each core before one opens. */
export const shmBytes = { perEndpoint: 4 * 2 ** 20, freePerCore: 16 * 2 ** 20 };

/** Whether /dev/shm is why libfabric does not offer shm. */
export const lacksSharedMemory = ({ sharedMemoryFreeBytes = 0, cores }: Limits): boolean =>
  sharedMemoryFreeBytes < cores * shmBytes.freePerCore;

export const sharedMemoryHint =
  'Enlarge /dev/shm: --shm-size=2g (Docker), a volume of medium Memory there (Kubernetes), or mount -o remount,size=2g /dev/shm.';
