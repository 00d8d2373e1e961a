import { sizeText } from '../../measure/units.js';
import type { PerPeer, PerRank } from '../../results/schema.js';
import type { ChartParts } from '../chart.js';
import { commonBytes, type Line, rowAt, withLeftOut } from '../lines.js';
import { barChart } from './bars.js';

/** Each target's rate in rows whose pairs take turns. */
export function peerBars(lines: readonly Line[]): ChartParts | undefined {
  const bytes = commonBytes(lines);
  if (bytes === undefined) return undefined;
  const parts = lines.flatMap((line) => {
    const peers = rowAt(line, bytes)?.perPeer ?? [];
    return peers.length < 2 ? [] : [{ line, peers }];
  });
  const pairs = [...new Set(parts.flatMap(({ peers }) => peers.map(pairName)))];
  return barChart({
    title: `Bandwidth of each pair, ${sizeText(bytes)}`,
    caption: withLeftOut(
      'Pairs take turns, so each has the fabric to itself. A short bar is a slow peer.',
      lines,
      bytes,
    ),
    places: pairs,
    axis: { name: 'bandwidth', text: 'gbps' },
    bars: parts.map(({ line, peers }) => {
      const byName = new Map(peers.map((peer) => [pairName(peer), peer]));
      return {
        name: line.name,
        color: line.color,
        values: pairs.map((pair) => byName.get(pair)?.gbps ?? null),
      };
    }),
  });
}

const pairName = ({ from, to }: PerPeer): string => `${from} → ${to}`;

/** Each rank's time in rows that all ranks take part in. */
export function rankBars(lines: readonly Line[]): ChartParts | undefined {
  const bytes = commonBytes(lines);
  if (bytes === undefined) return undefined;
  const parts = lines.flatMap((line) => {
    const ranks = rowAt(line, bytes)?.perRank ?? [];
    return ranks.length < 2 ? [] : [{ line, ranks }];
  });
  const names = new Map<number, string>();
  for (const { ranks } of parts) for (const rank of ranks) names.set(rank.rank, rankName(rank));
  const order = [...names.keys()].sort((a, b) => a - b);
  return barChart({
    title: `Time on each rank, ${sizeText(bytes)}`,
    caption: withLeftOut(
      'Mean time of each rank on its own clock. Ranks wait for each other: a high bar means a slow rank, a slow peer or more bytes to move.',
      lines,
      bytes,
    ),
    places: order.map((rank) => names.get(rank)!),
    axis: { name: 'time per iteration', text: 'ns' },
    bars: parts.map(({ line, ranks }) => {
      const byRank = new Map(ranks.map((rank) => [rank.rank, rank]));
      const summaries = order.map((rank) => byRank.get(rank)?.nanoseconds ?? undefined);
      return {
        name: line.name,
        color: line.color,
        values: summaries.map((summary) => summary?.mean ?? null),
        ranges: summaries.map((summary) => summary && ([summary.min, summary.p95] as const)),
      };
    }),
  });
}

const rankName = ({ rank, host }: PerRank): string =>
  host === undefined ? `rank ${rank}` : `rank ${rank} ${host}`;
