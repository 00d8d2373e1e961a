import { devicesWithoutNodes } from '../../fabric/hidden-devices.js';
import { loadLibrary } from '../../fabric/library.js';
import { lacksSharedMemory, mayLockMore, readLimits } from '../../fabric/limits.js';
import { isOffered, providerName } from '../../fabric/providers.js';
import { onOneHost } from '../../world/same-host.js';
import type { World } from '../../world/world.js';

/** What a host says of itself before a job starts. */
export interface HostState {
  readonly node: string;
  readonly libfabric: string;
  /** As this host's libfabric calls the provider of the job. */
  readonly provider: string;
  /** Absent: no limit. */
  readonly openFiles?: number | undefined;
  /** Absent: no limit. */
  readonly lockedBytes?: number | undefined;
  /** Absent: there is no /dev/shm. */
  readonly sharedFreeBytes?: number | undefined;
  /** libfabric does not offer shm, because /dev/shm is too small. */
  readonly lacksShm: boolean;
  /** RDMA devices that this process cannot open. */
  readonly closedDevices: readonly string[];
  /** Against rank 0's host. */
  readonly clock: { readonly offsetMs: number; readonly roundTripMs: number };
}

const sameClock = { offsetMs: 0, roundTripMs: 0 };

export async function readHostState(world: World, provider: string): Promise<HostState> {
  const library = loadLibrary();
  const limits = readLimits();
  return {
    node: process.version,
    libfabric: library.version,
    provider: providerName(provider, library),
    openFiles: limits.openFiles,
    lockedBytes: mayLockMore() ? undefined : limits.lockedMemoryBytes,
    sharedFreeBytes: limits.sharedMemoryFreeBytes,
    lacksShm: onOneHost(world) && lacksSharedMemory(limits) && !isOffered('shm'),
    closedDevices: devicesWithoutNodes(),
    clock: onOneHost(world) ? sameClock : await world.clockOffset(),
  };
}
