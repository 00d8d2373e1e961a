import { groupBy } from '../../measure/group.js';
import { type RankPair, roundRobin } from '../../plan/rounds.js';

/** Peers that every node is measured with. With two, a bad node is told from its peers. */
const peersPerNode = 2;

/**
 * Rounds of pairs between nodes in which every place (ranks of a node that use the same NICs) meets two other nodes,
 * or one where there are only two nodes. The number of rounds does not grow with the number of nodes. `places` has a
 * key for each rank, equal where two ranks share their NICs: only one of those is measured, the others stay idle.
 */
export function gateRounds(nodes: readonly string[], places: readonly string[]): RankPair[][] {
  const measured = [...nodes.keys()].filter((rank) => {
    const key = (one: number) => `${nodes[one]} ${places[one]}`;
    return [...nodes.keys()].findIndex((other) => key(other) === key(rank)) === rank;
  });
  const groups = [...groupBy(measured, (rank) => nodes[rank]!).values()];
  // With an odd number of nodes one of them is idle in each round.
  const enough = groups.length % 2 === 1 ? peersPerNode + 1 : peersPerNode;
  const meetings = roundRobin([...groups.keys()]).slice(0, enough);
  return meetings.flatMap((meeting) => {
    const turns = meeting.map(([a, b]) => turnsOf(groups[a]!, groups[b]!));
    const most = Math.max(...turns.map((one) => one.length));
    return Array.from({ length: most }, (_, turn) => turns.flatMap((one) => one[turn] ?? []));
  });
}

/** Every rank of both groups with one of the other; a smaller group meets a larger one in several turns. */
function turnsOf(a: readonly number[], b: readonly number[]): RankPair[][] {
  const [small, large] = a.length <= b.length ? [a, b] : [b, a];
  const turns = Math.ceil(large.length / small.length);
  return Array.from({ length: turns }, (_, turn) =>
    large
      .slice(turn * small.length, (turn + 1) * small.length)
      .map((rank, i): RankPair => (small === a ? [small[i]!, rank] : [rank, small[i]!])),
  );
}
