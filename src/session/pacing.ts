import { WeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import type { FabricSettings } from '../settings/table.js';

// On shm every chunk costs a command and its answer, and the copy is the peer's: few, large ones win.
const shmPacing = { chunkBytes: 64 * 2 ** 20, window: 4 };
const networkPacing = { chunkBytes: 2 ** 20, window: 16 };

/** What was measured to be good. */
export const preferredPacing = (provider: string): { chunkBytes: number; window: number } =>
  provider === 'shm' ? shmPacing : networkPacing;

/** Operations in flight where they are small; more gained nothing. */
const mostSmall = 256;

/** As many operations of this size, which may be smaller than chunks, as have the bytes of a window of chunks. */
export function windowFor(
  { chunkBytes, window }: { chunkBytes: number; window: number },
  operationBytes = chunkBytes,
): number {
  const small = Math.ceil((chunkBytes * window) / Math.max(1, operationBytes));
  return Math.max(window, Math.min(mostSmall, small));
}

/** The pacing of plans on this fabric: asked for, or what was measured to be good, within the provider's queues. */
export function pacingFor(
  fabric: Fabric,
  settings: Pick<FabricSettings, 'chunkBytes' | 'window'>,
  world: number,
  operationBytes?: number,
): { chunkBytes: number; window: number; reduced: boolean } {
  const preferred = preferredPacing(fabric.provider);
  const limits = fabric.channels.flatMap(({ sendQueue, receiveQueue }) => [
    sendQueue,
    Math.floor(receiveQueue / Math.max(1, world - 1)),
  ]);
  const wanted = settings.window ?? preferred.window;
  const most = settings.window ?? windowFor(preferred, operationBytes);
  const window = Math.max(1, Math.min(most, ...limits));
  const chunkBytes = Math.min(
    settings.chunkBytes ?? preferred.chunkBytes,
    ...fabric.channels.map((channel) => channel.maxWriteBytes),
  );
  if (!(chunkBytes > 0)) throw new WeftError('BAD_USAGE', '`chunkBytes` must be at least 1');
  return { chunkBytes, window, reduced: window < wanted };
}

/**
 * What a staged transfer is cut into. Only the first copy from and the last copy to the GPU are not hidden behind the
 * transfer: small pieces keep those short. Each piece costs some microseconds on the fabric and in CUDA: large pieces
 * keep those few. Of 0.5, 1, 2 and 4 MiB this was the best on an H200, over shm.
 */
export const stagedPieceBytes = 2 ** 20;
