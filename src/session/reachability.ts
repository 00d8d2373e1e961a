import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';
import { isWeftError, WeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import { isNativeFault } from '../native/addon.js';
import { exchangeRegions } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';

/** A rail on which one rank's bytes did not come to another. */
export interface Gap {
  readonly rail: number;
  readonly from: number;
  readonly to: number;
}

const longestMs = 10_000;
/** In a large world the set-up of so many connections takes its time. */
const longerByRankMs = 20;
const probeImmediate = 0;
const probeBytes = 64;

/**
 * Before anything is measured: every rank writes a few bytes to every other on every channel. Whatever has not come
 * by the deadline is told by rail and hosts, and ends the job.
 */
export async function requireReach(world: World, fabric: Fabric, timeoutMs: number): Promise<void> {
  const deadlineMs = Math.min(timeoutMs / 2, longestMs + longerByRankMs * world.size);
  const gaps = await findGaps(world, fabric, deadlineMs);
  if (gaps.length > 0) await refuseGaps(world, fabric, gaps);
}

/** Rank 0 speaks: when it gives up, the others are told and end in the barrier. */
export async function refuseGaps(
  world: World,
  fabric: Fabric,
  gaps: readonly Gap[],
): Promise<never> {
  if (world.rank !== 0) await world.barrier('rails are mended');
  throw unreachable(world, fabric, gaps);
}

/** What does not come through by the deadline, the same on every rank. After a gap the fabric is only good for closing. */
export async function findGaps(world: World, fabric: Fabric, deadlineMs: number): Promise<Gap[]> {
  world.note('checking that every rail reaches every rank');
  const source = fabric.allocate(probeBytes);
  const target = fabric.allocate(probeBytes * world.size);
  const remotes = await exchangeRegions(world, fabric, target);
  const signal = AbortSignal.any([world.signal]);
  setMaxListeners(0, signal); // each probe listens
  const limits = { signal, timeoutMs: deadlineMs };
  const probes = fabric.channels.flatMap((_, rail) =>
    othersOf(world).map(async (peer): Promise<Gap[]> => {
      const channel = fabric.channel(peer, rail);
      const to = remotes[peer]!.slice(world.rank * probeBytes, probeBytes);
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

function unreachable({ hosts }: World, fabric: Fabric, gaps: readonly Gap[]): WeftError {
  const rails = [...new Set(gaps.map((gap) => gap.rail))].sort((a, b) => a - b);
  const sentences = rails.map((rail) => {
    const pairs = gaps.filter((gap) => gap.rail === rail);
    return `rail ${rail} (${fabric.channels[rail]?.nic}): ${describeGaps(pairs, hosts)}`;
  });
  return new WeftError('UNREACHABLE', sentences.join('; '), {
    hint: 'Look at the link, the switch and the firewall between them, or leave that rail out with --nics.',
  });
}

const mostPairs = 4;

/** One host that is in every gap is the one to look at; else some of the pairs. */
export function describeGaps(gaps: readonly Omit<Gap, 'rail'>[], hosts: readonly string[]): string {
  const pairs = gaps.map(({ from, to }) => [hosts[from]!, hosts[to]!] as const);
  const culprit = [...new Set(pairs.flat())].find(
    (host) => pairs.length > 2 && pairs.every((pair) => pair.includes(host)),
  );
  if (culprit !== undefined) {
    const others = new Set(pairs.flat().filter((host) => host !== culprit));
    return `${culprit} and ${[...others].sort().join(', ')} do not reach each other`;
  }
  const words = [...new Set(pairs.map(([from, to]) => `${from} does not reach ${to}`))];
  const more = words.length > mostPairs ? ` and ${words.length - mostPairs} more` : '';
  return `${words.slice(0, mostPairs).join(', ')}${more}`;
}
