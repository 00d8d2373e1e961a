import { addPlanned, none, type Planned } from '../../analysis/path/observation.js';
import { isRdma } from '../../fabric/providers.js';
import { type Outgoing, outgoingOf } from '../../plan/outgoing.js';
import type { Plan } from '../../plan/plan.js';
import { sameHost } from '../../world/same-host.js';
import type { World } from '../../world/world.js';

/** A plan and how often a rank runs it. */
export interface Loop {
  readonly plan: Plan;
  readonly iterations: number;
}

/** Payload that one rank's plans put on one NIC of a host. */
export interface PlannedOn extends Planned {
  readonly host: number;
  readonly nic: string;
}

export const loopback = 'lo';

/** Which NICs the ranks' channels use, on which hosts. The same on every rank. */
export interface Routes {
  /** The host of each rank: ranks are on one host when they see the same network. */
  readonly hostOf: readonly number[];
  /** The NIC of each rank's channels. */
  readonly nics: readonly (readonly string[])[];
  readonly provider: string;
  /** A device of some rank is emulated. */
  readonly emulated: boolean;
  /** The provider has no hardware for writes: it makes sends of them. */
  readonly emulatedWrites: boolean;
  /** RDMA between ranks of a host may go through shared memory, because the user said so. */
  readonly localShm: boolean;
}

/** Numbers hosts by their first rank. */
export function hostsOf({ members }: Pick<World, 'members'>): number[] {
  const firsts = members.filter(
    (member, rank) => members.findIndex((other) => sameHost(other, member)) === rank,
  );
  return members.map((member) => firsts.findIndex((first) => sameHost(first, member)));
}

/** The ranks of a host that use a NIC; loopback is of all of them. */
export const ranksOn = ({ hostOf, nics }: Routes, host: number, nic: string): number[] =>
  [...hostOf.keys()].filter(
    (rank) => hostOf[rank] === host && (nic === loopback || nics[rank]!.includes(nic)),
  );

/** What the loops of this rank put on NICs of its own host and of its peers', per NIC. */
export function plannedOf(routes: Routes, rank: number, loops: readonly Loop[]): PlannedOn[] {
  const sums = new Map<string, PlannedOn>();
  const add = (host: number, nic: string, part: Partial<Planned>) => {
    const key = `${host} ${nic}`;
    sums.set(key, { host, nic, ...addPlanned(sums.get(key), { ...none, ...part }) });
  };
  for (const { plan, iterations } of loops) {
    for (const out of outgoingOf(plan)) {
      const [sender, receiver] = out.read ? [out.peer, rank] : [rank, out.peer];
      const way = wayOf(routes, sender, { peer: receiver, channel: out.channel });
      if (way === undefined) continue;
      const bytes = out.bytes * iterations;
      const messages = out.messages * iterations;
      const writeBytes = routes.emulatedWrites ? 0 : out.writeBytes * iterations;
      add(routes.hostOf[sender]!, way.from, { txBytes: bytes, writeBytes, messages });
      add(routes.hostOf[receiver]!, way.to, { rxBytes: bytes, messages });
    }
  }
  return [...sums.values()];
}

/**
 * The NICs at both ends of a transfer; undefined where none should count it. Channel k of every rank meets channel k of
 * every other.
 */
function wayOf(
  { hostOf, nics, provider, localShm }: Routes,
  rank: number,
  { peer, channel }: Pick<Outgoing, 'peer' | 'channel'>,
): { from: string; to: string } | undefined {
  if (provider === 'shm') return undefined;
  const [from, to] = [nics[rank]![channel]!, nics[peer]![channel]!];
  if (hostOf[rank] !== hostOf[peer]) return { from, to };
  // An adapter may turn round by itself what it sends to itself, and count none of it.
  if (/^verbs\b/.test(provider) && from === to) return undefined;
  if (isRdma(provider)) return localShm ? undefined : { from, to };
  // The kernel takes sockets of one host over loopback. Where all ranks are on one host, a NIC that was named should
  // carry the bytes all the same: its rate is what the row is held against.
  return new Set(hostOf).size > 1 ? { from: loopback, to: loopback } : { from, to };
}
