import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';
import { isWeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import { isNativeFault } from '../native/addon.js';
import { exchangeRegions } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';

/** A rail on which one rank's bytes did not come to another. */
export interface Gap {
  readonly rail: number;
  readonly from: number;
  readonly to: number;
  /** Absent: unknown. */
  readonly cause?: GapCause;
}

/** Nobody answers ARP; connections are dropped; they are rejected; small messages pass and full frames do not. */
export type GapCause = 'no-neighbour' | 'filtered' | 'rejected' | 'frame-size';

const probeImmediate = 0;
/** More than a frame of any network: what passes only small ones is a gap. */
const probeBytes = 16 * 1024;

/**
 * Every rank writes a few frames to every other on every channel: what has not come by the deadline, the same on every
 * rank. After a gap the fabric is only good for closing.
 */
export async function findGaps(world: World, fabric: Fabric, deadlineMs: number): Promise<Gap[]> {
  world.note('checking that every rail reaches every rank');
  const source = fabric.allocate(probeBytes);
  // All write to the same place: that something came is enough.
  const target = fabric.allocate(probeBytes);
  const remotes = await exchangeRegions(world, fabric, target);
  const signal = AbortSignal.any([world.signal]);
  setMaxListeners(0, signal); // each probe listens
  const limits = { signal, timeoutMs: deadlineMs };
  const probes = fabric.channels.flatMap((_, rail) =>
    othersOf(world).map(async (peer): Promise<Gap[]> => {
      const channel = fabric.channel(peer, rail);
      const to = remotes[peer]!.slice(0, probeBytes);
      const [sent, heard] = await Promise.allSettled([
        channel.write(source.slice(0, probeBytes), to, { ...limits, immediate: probeImmediate }),
        channel.immediate(probeImmediate, limits),
      ]);
      world.signal.throwIfAborted();
      return [
        ...(isGap(sent) ? [{ rail, from: world.rank, to: peer }] : []),
        ...(isGap(heard) ? [{ rail, from: peer, to: world.rank }] : []),
      ];
    }),
  );
  const ended = await Promise.allSettled(probes);
  const mine = ended.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  const gaps = (await world.allgather('gaps', mine)).flat();
  if (gaps.length > 0) return gaps;
  for (const remote of remotes) remote.close();
  source.close();
  target.close();
  return [];
}

const { errno } = constants;
/** Node has no names for ESHUTDOWN and EHOSTDOWN. */
const unnamed = [108, 112];
/** Of a transfer that the network ended; EIO is what RDMA makes of retries that were in vain. */
const networkErrors: readonly number[] = [
  ...[errno.ETIMEDOUT, errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.ENOTCONN],
  ...[errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.ENETRESET, errno.EPIPE],
  ...[errno.EIO, errno.ECANCELED, ...unnamed],
];

/** Whether a probe did not come through. What ended it for another reason is no gap, and is thrown. */
export function isGap(probe: PromiseSettledResult<unknown>): boolean {
  if (probe.status === 'fulfilled') return false;
  const { reason } = probe;
  if (isWeftError(reason, 'TIMEOUT')) return true;
  const fault = isWeftError(reason, 'FABRIC_FAULT') && reason.cause;
  if (isNativeFault(fault) && networkErrors.includes(fault.code)) return true;
  throw reason;
}

/** The next rank first, so that not all begin with the same one. */
const othersOf = ({ rank, size }: World): number[] =>
  Array.from({ length: size - 1 }, (_, i) => (rank + 1 + i) % size);
