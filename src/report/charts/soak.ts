import { isSoakRow, type SoakRow } from '../../analysis/soak/verdict.js';
import { clockText, spanText } from '../../analysis/soak/words.js';
import { formatNanoseconds, plural } from '../../measure/units.js';
import type { RepeatedRun } from '../../results/repeats.js';
import { rowsByKey } from '../../results/row-key.js';
import { sizedName } from '../../results/row-name.js';
import { across, framed, strokeOf, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { decadeTicks } from '../ticks.js';

const mostCharts = 8;
/** Names beside more marks than this would hide each other. */
const mostNamed = 6;

/** A soak over its time, a chart for each column and size. */
export function soakCharts({ rows, repeated = rows }: RepeatedRun): ChartParts[] {
  const measured = repeated.filter(isSoakRow);
  const [first] = measured;
  if (first === undefined) return [];
  const start = Date.parse(first.soak.startedAt);
  return [...rowsByKey(measured).values()]
    .slice(0, mostCharts)
    .map((group) => soakChart(group as SoakRow[], measured, start));
}

const figures = [
  ['p50', (row: SoakRow) => row.nanoseconds!.p50],
  ['p99', (row: SoakRow) => row.nanoseconds!.p99],
  ['p99.9', (row: SoakRow) => row.soak.p999],
  ['max', (row: SoakRow) => row.nanoseconds!.max],
] as const;

function soakChart(rows: readonly SoakRow[], all: readonly SoakRow[], start: number): ChartParts {
  const secondsAt = (at: string) => rounded((Date.parse(at) - start) / 1000);
  // A point stands at the middle of its interval.
  const middleOf = ({ soak }: SoakRow) =>
    rounded((Date.parse(soak.startedAt) + Date.parse(soak.endedAt) - 2 * start) / 2000);
  const point = (x: number, y: number) => [x, rounded(y), rounded(y), rounded(y), 0];
  const lines = figures.map(([name, value], i) => ({
    type: 'line',
    name,
    ...strokeOf({ color: i, dash: 0 }),
    symbolSize: 5,
    showSymbol: rows.length <= 60,
    data: rows.map((row) => point(middleOf(row), value(row))),
  }));
  const stalls = rows.flatMap(({ soak }) => soak.stalls);
  const marks = stalls.map(({ at, milliseconds }) => point(secondsAt(at), milliseconds * 1e6));
  const links = all.flatMap(({ soak }) => soak.links);
  const values = [...lines.flatMap(({ data }) => data), ...marks].map(([, y]) => y!);
  return {
    title: `${sizedName(rows[0]!)} over time`,
    caption: `Time per iteration in each interval, starting at ${clockText(rows[0]!.soak.startedAt, true)}. Diamonds show stalls and their extra time; dashed lines show when a link went down.`,
    summary: summaryOf(rows, links.length),
    heightPx: plotHeightPx,
    option: framed({
      tooltip: 'axis elapsed ns',
      legend: [...figures.map(([name]) => name), ...(marks.length > 0 ? ['stall'] : [])],
      x: across({ name: 'time since the start', text: 'elapsed' }),
      y: upright({ name: 'time per iteration', text: 'ns', ticks: decadeTicks(values) }),
      yName: 'time per iteration',
      series: [
        { ...lines[0], ...(links.length > 0 && { markLine: linkMarks(links, secondsAt) }) },
        ...lines.slice(1),
        ...(marks.length === 0 ? [] : [stallSeries(marks)]),
      ],
    }),
  };
}

/** A line without a stroke: ECharts draws its symbols, and its legend shows them. */
const stallSeries = (marks: readonly number[][]): object => ({
  type: 'line',
  name: 'stall',
  symbol: 'diamond',
  symbolSize: 11,
  showSymbol: true,
  itemStyle: { color: '@warn' },
  lineStyle: { width: 0, opacity: 0 },
  z: 4,
  data: marks,
});

const linkMarks = (
  links: readonly { host: string; nic: string; at: string }[],
  secondsAt: (at: string) => number,
): object => ({
  silent: true,
  symbol: 'none',
  lineStyle: { color: '@warn', type: 'dashed', width: 1 },
  label: { show: links.length <= mostNamed, position: 'insideEndTop', color: '@muted' },
  data: links.map(({ host, nic, at }) => ({
    xAxis: secondsAt(at),
    label: { formatter: `${nic} on ${host} down` },
  })),
});

function summaryOf(rows: readonly SoakRow[], links: number): string {
  const stalls = rows.reduce((sum, { soak }) => sum + soak.stallCount, 0);
  const [first, last] = [rows[0]!, rows.at(-1)!].map(({ nanoseconds }) =>
    formatNanoseconds(nanoseconds!.p50),
  );
  const longest = Math.max(
    0,
    ...rows.flatMap(({ soak }) => soak.stalls.map(({ milliseconds }) => milliseconds)),
  );
  const found =
    stalls === 0 ? 'no stall' : `${plural(stalls, 'stall')}, the longest ${spanText(longest)}`;
  const down = links === 0 ? '' : `; ${plural(links, 'link failure')}`;
  return `p50 ${first} in the first and ${last} in the last of ${plural(rows.length, 'interval')}; ${found}${down}`;
}
