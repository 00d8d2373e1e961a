import type { Member } from './rendezvous/messages.js';
import type { World } from './world.js';

/** Ranks are on one host when they run in one boot of one machine and see the same network. */
export const sameHost = (
  a: Pick<Member, 'bootId' | 'netns'>,
  b: Pick<Member, 'bootId' | 'netns'>,
): boolean => a.bootId === b.bootId && a.netns === b.netns;

/** The first rank of each host, which speaks for it. */
export const firstRanks = ({ members }: Pick<World, 'members'>): number[] =>
  [...members.keys()].filter(
    (rank) => members.findIndex((member) => sameHost(member, members[rank]!)) === rank,
  );

/** Only then can ranks share memory. */
export const onOneHost = ({ members }: Pick<World, 'members'>): boolean =>
  members.every((member) => sameHost(member, members[0]!));
