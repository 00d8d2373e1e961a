import { sizeText } from '../../measure/units.js';
import type { PerPeer, PerRank, Row, Run } from '../../results/schema.js';
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

/** With more lines than this, a second bar for each would leave too little room. */
const mostWithBounds = 4;

/** Each rank's time in rows that all ranks take part in, beside its bound where that is known. */
export function rankBars(lines: readonly Line[]): ChartParts | undefined {
  const bytes = commonBytes(lines);
  if (bytes === undefined) return undefined;
  const parts = lines.flatMap((line) => {
    const row = rowAt(line, bytes);
    const ranks = row?.perRank ?? [];
    return ranks.length < 2 ? [] : [{ line, ranks, bounds: rankBounds(row!, line.run) }];
  });
  const withBounds = parts.length <= mostWithBounds && parts.some(({ bounds }) => bounds.size > 0);
  const names = new Map<number, string>();
  for (const { ranks } of parts) for (const rank of ranks) names.set(rank.rank, rankName(rank));
  const order = [...names.keys()].sort((a, b) => a - b);
  return barChart({
    title: `Time on each rank${withBounds ? ' and its bound' : ''}, ${sizeText(bytes)}`,
    caption: withLeftOut(
      `Mean time of each rank on its own clock. Ranks wait for each other: a high bar means a slow rank, a slow peer or more bytes to move.${withBounds ? boundCaption : ''}`,
      lines,
      bytes,
    ),
    places: order.map((rank) => names.get(rank)!),
    axis: { name: 'time per iteration', text: 'ns' },
    bars: parts.flatMap(({ line, ranks, bounds }) => [
      timesOf(line, ranks, order),
      {
        name: `${line.name} bound`,
        color: line.color,
        pale: true,
        values: order.map((rank) => (withBounds ? (bounds.get(rank) ?? null) : null)),
      },
    ]),
  });
}

const boundCaption =
  ' A pale bar is the bound of the rank: the time that its busiest NIC and direction need at the line rate.';

function timesOf(line: Line, ranks: readonly PerRank[], order: readonly number[]) {
  const byRank = new Map(ranks.map((rank) => [rank.rank, rank]));
  const summaries = order.map((rank) => byRank.get(rank)?.nanoseconds ?? undefined);
  return {
    name: line.name,
    color: line.color,
    values: summaries.map((summary) => summary?.mean ?? null),
    ranges: summaries.map((summary) => summary && ([summary.min, summary.p95] as const)),
  };
}

/** The best time of each rank's own NICs, in nanoseconds; empty where it is unknown or another chart shows it. */
function rankBounds(row: Row, { settings }: Run): Map<number, number> {
  const { perRank = [], ofBoundPercent, linePercent, nanoseconds, routing } = row;
  if (ofBoundPercent === null || nanoseconds === null || routing) return new Map();
  // Transfers that start at given times may set the row's bound, which then says nothing of a rank's NICs.
  const own = Object.keys(settings.own ?? {});
  const mayStartLate = own.includes('rate') || own.includes('scaleTime');
  if (mayStartLate && ofBoundPercent > (linePercent ?? 0) * 1.001) return new Map();
  const whole = (nanoseconds.mean * ofBoundPercent) / 100;
  return new Map(perRank.map(({ rank, load = 1 }) => [rank, whole * load]));
}

const rankName = ({ rank, host }: PerRank): string =>
  host === undefined ? `rank ${rank}` : `rank ${rank} ${host}`;
