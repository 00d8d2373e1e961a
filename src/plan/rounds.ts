/** Two ranks that are busy with each other. */
export type RankPair = readonly [a: number, b: number];

/** One direction at a time, so that a fault of one direction is seen. */
export const bothWays = (round: readonly RankPair[]): (readonly RankPair[])[] => [
  round,
  round.map(([a, b]): RankPair => [b, a]),
];

/**
 * Every player with every other, each busy at most once a round: n − 1 rounds, or n with one idle in each where n is
 * odd. The circle method: one stays, the others move on by one seat.
 */
export function roundRobin(players: readonly number[]): RankPair[][] {
  const seats: (number | undefined)[] = [...players];
  if (seats.length % 2 === 1) seats.push(undefined);
  const n = seats.length;
  return Array.from({ length: Math.max(0, n - 1) }, (_, round) => {
    const seat = (i: number) => (i === 0 ? seats[0] : seats[1 + ((i - 1 + round) % (n - 1))]);
    return Array.from({ length: n / 2 }, (_, i) => [seat(i), seat(n - 1 - i)]).filter(
      (pair): pair is [number, number] => pair[0] !== undefined && pair[1] !== undefined,
    );
  });
}

/**
 * The rounds of a world, by the host of each rank. Where hosts have several ranks, equally many, a round is either
 * between hosts or inside them: in every round between hosts all ranks of a host share its NICs alike, and pairs can
 * be compared. A host that is idle because their number is odd measures inside meanwhile. One round more than n − 1
 * may be needed for that.
 */
export function roundsOf(hosts: readonly string[]): RankPair[][] {
  const ranks = [...hosts.keys()];
  const groups = [...new Set(hosts)].map((host) => ranks.filter((rank) => hosts[rank] === host));
  const size = groups[0]?.length ?? 0;
  const even = groups.every((group) => group.length === size);
  if (groups.length < 2 || size < 2 || !even) return roundRobin(ranks);
  const inside = groups.map((group) => roundRobin(group));
  const done = groups.map(() => 0);
  const rounds: RankPair[][] = [];
  for (const meeting of roundRobin([...groups.keys()])) {
    const idle = [...groups.keys()].filter(
      (group) => !meeting.some((pair) => pair.includes(group)),
    );
    for (let shift = 0; shift < size; shift++) {
      const between = meeting.flatMap(([a, b]) =>
        groups[a]!.map((rank, i): RankPair => [rank, groups[b]![(i + shift) % size]!]),
      );
      rounds.push([...between, ...idle.flatMap((group) => inside[group]![done[group]!++] ?? [])]);
    }
  }
  const left = inside.map((own, group) => own.slice(done[group]));
  const most = Math.max(...left.map((own) => own.length));
  for (let i = 0; i < most; i++) rounds.push(left.flatMap((own) => own[i] ?? []));
  return rounds;
}
