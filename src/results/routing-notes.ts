import { groupBy } from '../measure/group.js';
import { rangeText } from '../measure/units.js';
import type { Note } from './note.js';
import type { RoutingFacts } from './routing.js';
import type { PerRank, Row } from './schema.js';

type Routed = Pick<Row, 'column' | 'perRank' | 'imbalance'> & { readonly routing: RoutingFacts };

/** What an expert layer had to carry: which routing, what it saved, and who was busiest and slowest. */
export function routingNotes(rows: readonly Row[]): Note[] {
  const routed = rows.filter((row): row is Row & Routed => row.routing !== undefined);
  const byHash = groupBy(routed, ({ routing }) => routing.hash);
  const notes = [...byHash].map(([hash, own]): Note => {
    const { kind, tokens, dedup, experts } = own[0]!.routing;
    const worst = Math.max(...own.map(({ imbalance = 1 }) => imbalance));
    const text =
      `${rangeText(tokens, 0)} tokens per rank to ${experts} experts: routing ${kind}, hash ${hash}; ` +
      `one copy per rank instead of one per expert cuts traffic ${dedup.toFixed(2)}x; ` +
      `busiest rank ${worst.toFixed(2)}x the mean`;
    return { kind: 'plain', text };
  });
  const slowest = groupBy(
    [...byHash.values()].at(-1) ?? [],
    ({ perRank = [] }) => perRank.toSorted((a, b) => meanOf(b) - meanOf(a))[0]?.rank,
  );
  const who = [...slowest].flatMap(([rank, own]) =>
    rank === undefined ? [] : `${rank} in ${own.map(({ column }) => column).join(', ')}`,
  );
  return who.length === 0
    ? notes
    : [...notes, { kind: 'plain', text: `slowest rank: ${who.join('; ')}` }];
}

const meanOf = ({ nanoseconds }: PerRank): number => nanoseconds?.mean ?? 0;
