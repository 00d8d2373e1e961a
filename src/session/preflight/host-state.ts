import type { FabricOptions } from '../../fabric/fabric.js';
import { devicesWithoutNodes } from '../../fabric/hidden-devices.js';
import { loadLibrary } from '../../fabric/library.js';
import { lacksSharedMemory, mayLockMore, readLimits } from '../../fabric/limits.js';
import { localShmOf } from '../../fabric/local-shm.js';
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
  /** The provider of the job hands what goes to other ranks of this host to shared memory. */
  readonly localShm: boolean;
  /** libfabric does not offer shm, because /dev/shm is too small. */
  readonly lacksShm: boolean;
  /** RDMA devices that this process cannot open. */
  readonly closedDevices: readonly string[];
  /** Against rank 0's host. */
  readonly clock: { readonly offsetMs: number; readonly roundTripMs: number };
}

const sameClock = { offsetMs: 0, roundTripMs: 0 };

export async function readHostState(
  world: World,
  { provider, localShm = false }: Pick<FabricOptions, 'provider' | 'localShm'>,
): Promise<HostState> {
  const library = loadLibrary();
  const limits = readLimits();
  return {
    node: process.version,
    libfabric: library.version,
    provider: providerName(provider, library),
    openFiles: limits.openFiles,
    lockedBytes: mayLockMore() ? undefined : limits.lockedMemoryBytes,
    sharedFreeBytes: limits.sharedMemoryFreeBytes,
    // Where shm is not offered, efa does without.
    localShm: localShmOf(provider, library, localShm)?.allowed === true && isOffered('shm'),
    lacksShm: onOneHost(world) && lacksSharedMemory(limits) && !isOffered('shm'),
    closedDevices: devicesWithoutNodes(),
    clock: onOneHost(world) ? sameClock : await world.clockOffset(),
  };
}
