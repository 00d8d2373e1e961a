import { cpus } from 'node:os';
import type { World } from '../world/world.js';

/**
 * Empty looks at a queue before a thread offers its core to others. A yield between looks costs some microseconds of
 * latency, and spinning costs whoever needs the core: 400 was the best of 200, 400 and 1000 for 1 MiB over tcp.
 * native/fabric/operations.cc has the same number for the awaitable API.
 */
const usualSpins = 400;

/** A producer that was woken must not wait long for the core of the proxy that woke it. */
export const proxySpinsWhenCrowded = 32;

/** Where threads have to share cores, each offers its core at once. */
export const spinsFor = (crowded: boolean): number => (crowded ? 0 : usualSpins);

export const exceedsCores = (threads: number): boolean => threads > cpus().length;

/**
 * Whether the ranks of this machine, with `others` more threads of theirs, have to share cores. Counted over the whole
 * machine, as pinned ranks see only their own cores. Where several hosts share a machine (network namespaces), the
 * network between them runs on its cores, too.
 */
export function isCrowded({ members, rank }: Pick<World, 'members' | 'rank'>, others = 0): boolean {
  const here = members.filter(({ bootId }) => bootId === members[rank]?.bootId);
  return (
    exceedsCores(here.length + others) || here.some(({ netns }) => netns !== members[rank]?.netns)
  );
}
