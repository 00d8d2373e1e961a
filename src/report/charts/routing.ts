import { extentOf } from '../../measure/extent.js';
import { groupBy } from '../../measure/group.js';
import { plural, rangeText, sizeText } from '../../measure/units.js';
import type { RoutingFacts } from '../../results/routing.js';
import type { PerRank, Row, Run } from '../../results/schema.js';
import { framed, places } from '../axes.js';
import { type ChartParts, rounded } from '../chart.js';
import { texts } from '../hydrate.js';
import { isPassed } from '../lines.js';
import { barChart } from './bars.js';
import { scaleOf } from './heat-map.js';

type Routed = Row & { readonly routing: RoutingFacts };

const routedRows = ({ rows }: Run): Routed[] =>
  rows.filter((row): row is Routed => row.routing !== undefined && isPassed(row));

const tokensText = ({ tokens }: RoutingFacts): string => `${rangeText(tokens, 0)} tokens per rank`;

/** Which rank's tokens went to which expert: one map for each routing of a run. */
export const routingMaps = (run: Run): ChartParts[] =>
  [...groupBy(routedRows(run), ({ routing }) => routing.hash).values()].map((rows) =>
    routingMap(rows[0]!.routing),
  );

function routingMap(routing: RoutingFacts): ChartParts {
  const { counts, experts } = routing;
  const order = expertOrder(routing);
  const cells = cellsOf(routing, order);
  const extent = extentOf(cells.map(([, , tokens]) => tokens!));
  const expertLabels = order.map((column) => String(firstOf(column, order.length, experts)));
  const rankLabels = counts.map((_, y) => String(firstOf(y, counts.length, routing.tokens.length)));
  return {
    title: `Tokens by rank and expert, ${tokensText(routing)}`,
    caption: captionOf(routing),
    summary: summaryOf(routing),
    heightPx: Math.min(480, Math.max(120, counts.length * 24)) + 150,
    option: framed({
      tooltip: 'tokens number',
      trigger: 'item',
      x: { ...places(expertLabels, 'expert'), splitArea: { show: false } },
      y: { ...places(rankLabels), inverse: true },
      yName: 'rank',
      series: [
        {
          type: 'heatmap',
          data: cells,
          emphasis: { itemStyle: { borderColor: '@text', borderWidth: 1 } },
        },
      ],
      more: {
        grid: { left: 12, right: 24, top: 34, bottom: 92, outerBoundsMode: 'same' },
        visualMap: scaleOf(extent, texts.number!),
      },
    }),
  };
}

/** The columns of `counts`, with the experts of one rank side by side: this shows what stays on a rank and what leaves it. */
const expertOrder = ({ counts, hosts }: RoutingFacts): number[] =>
  counts[0]!.map((_, i) => i).sort((a, b) => (hosts ? hosts[a]! - hosts[b]! || a - b : a - b));

/** The first of the `all` ranks or experts that cell `i` of `shown` adds up. */
const firstOf = (i: number, shown: number, all: number): number => Math.ceil((i * all) / shown);

/** Of each cell: column, row, tokens, first expert, first rank and, where it is known, the expert's rank. */
const cellsOf = (
  { counts, hosts, experts, tokens }: RoutingFacts,
  order: readonly number[],
): number[][] =>
  counts.flatMap((row, y) =>
    order.map((column, x) => [
      x,
      y,
      row[column]!,
      firstOf(column, order.length, experts),
      firstOf(y, counts.length, tokens.length),
      ...(hosts ? [hosts[column]!] : []),
    ]),
  );

function captionOf({ counts, hosts, experts, tokens, kind, hash, dedup }: RoutingFacts): string {
  const together = counts[0]!.length < experts || counts.length < tokens.length;
  return (
    `Routing ${kind}, hash ${hash}. Each cell shows how many tokens of a rank go to an expert` +
    `${hosts ? '; the experts of one rank are side by side' : ''}. ` +
    `${together ? 'Each cell adds up neighbouring ranks or experts. ' : ''}` +
    `Sending one copy per rank instead of one per expert cuts the traffic ${dedup.toFixed(2)}×.`
  );
}

function summaryOf({ counts, experts, hosts }: RoutingFacts): string {
  const sums = counts[0]!.map((_, expert) => counts.reduce((sum, row) => sum + row[expert]!, 0));
  const all = sums.reduce((sum, one) => sum + one, 0);
  const [, most] = extentOf(sums);
  const busiest = sums.indexOf(most);
  const where = hosts ? ` on rank ${hosts[busiest]}` : '';
  const share = ((most / all) * 100).toFixed(1);
  return `${plural(experts, 'expert')}; the most popular is expert ${busiest}${where} with ${share} % of all choices`;
}

/** Bytes and times of each rank at the largest size: one pair of charts for each thing a run timed. */
export function routedRankBars(run: Run): ChartParts[] {
  const rows = routedRows(run);
  const [, largest] = extentOf(rows.map(({ bytes }) => bytes!));
  const best = groupBy(
    rows.filter(({ bytes }) => bytes === largest),
    ({ routing, column }) => `${/^[A-Z][a-z]*/.exec(column)} ${routing.hash}`,
  );
  return [...best.values()].flatMap((own) => {
    const fastest = own.reduce((a, b) => (b.nanoseconds!.mean < a.nanoseconds!.mean ? b : a));
    return [bytesOfRanks(fastest), timesOfRanks(fastest)].flatMap((chart) => chart ?? []);
  });
}

const rankNames = ({ routing, perRank = [] }: Routed): string[] =>
  routing.tokens.map((_, rank) => {
    const host = perRank.find((one) => one.rank === rank)?.host;
    return host === undefined ? `rank ${rank}` : `rank ${rank} ${host}`;
  });

const bytesOfRanks = (row: Routed): ChartParts | undefined =>
  barChart({
    title: `${row.column}: bytes of each rank, ${sizeText(row.bytes!)}`,
    caption:
      'Bytes that each rank sends to and receives from other ranks in one iteration. The busiest NIC and direction limit all ranks.',
    places: rankNames(row),
    axis: { name: 'bytes per iteration', text: 'bytes' },
    bars: [
      { name: 'sent', color: 0, values: row.routing.bytesOut },
      { name: 'received', color: 1, values: row.routing.bytesIn },
    ],
  });

/** Undefined where `ranks` shows as much: without line rates there is no bound to compare with. */
function timesOfRanks(row: Routed): ChartParts | undefined {
  const { perRank = [], ofBoundPercent, nanoseconds } = row;
  if (ofBoundPercent === null || perRank.length < 2) return undefined;
  const { tokens } = row.routing;
  const whole = (nanoseconds!.mean * ofBoundPercent) / 100;
  const byRank = new Map(perRank.map((one) => [one.rank, one]));
  const ofEach = (value: (one: PerRank) => number | undefined) =>
    tokens.map((_, rank) => {
      const one = byRank.get(rank);
      const found = one && value(one);
      return found === undefined ? null : rounded(found);
    });
  return barChart({
    title: `${row.column}: time of each rank and its bound, ${sizeText(row.bytes!)}`,
    caption:
      'Mean time of each rank on its own clock. The bound of a rank is the time that its busiest NIC and direction need at the line rate; that of the busiest rank is the bound of the row. Ranks wait for each other, so all take about as long as the busiest.',
    places: rankNames(row),
    axis: { name: 'time per iteration', text: 'ns' },
    bars: [
      { name: 'measured', color: 0, values: ofEach((one) => one.nanoseconds?.mean) },
      { name: 'bound', color: 6, values: ofEach(({ load = 1 }) => whole * load) },
    ],
  });
}
