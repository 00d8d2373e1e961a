import type { History, Trend } from '../../analysis/history/history.js';
import { dayOf, nameOfPlace, speedText } from '../../analysis/history/words.js';
import { groupBy } from '../../measure/group.js';
import { median } from '../../measure/quantile.js';
import { plural } from '../../measure/units.js';
import { nameOfRow } from '../../results/row-name.js';
import { across, framed, strokeOf, upright } from '../axes.js';
import { type Chart, plotHeightPx, rounded } from '../chart.js';

const mostLines = 8;
/** More points than this no screen tells apart. */
const mostPoints = 400;

/** The rows of each place over time, as shares of the best level that each had: steps of all rows can be compared. */
export function historyCharts({ trends }: History): Chart[] {
  const measured = trends.filter(({ series }) => series.runs.length > 1);
  const places = [...groupBy(measured, ({ series }) => series.place)];
  return places.map(([place, own], i): Chart => {
    const drawn = mostTelling(own);
    const name = nameOfPlace(place);
    const left = own.length - drawn.length;
    return {
      id: i === 0 ? 'history' : `history-${i + 1}`,
      kind: 'history',
      benchmark: place.benchmark,
      title: `Speed over time: ${name}`,
      caption: `Each row relative to its best level. Vertical lines mark lasting changes.${left > 0 ? ` The ${drawn.length} rows with the largest changes; ${plural(left, 'other row')} not shown.` : ''}`,
      summary: drawn.map(summaryOf).join('; '),
      heightPx: plotHeightPx,
      option: timeChart({
        yName: 'of the best level',
        text: 'percent',
        lines: drawn.map((trend) => ({
          name: nameOfRow(trend.series.row),
          points: pointsOf(trend, 100 * bestLevel(trend)),
        })),
        marks: marksOf(drawn),
      }),
    };
  });
}

/** One row in its own unit, with its levels. */
export function rowHistoryChart(trend: Trend): Chart {
  const { series } = trend;
  const name = `${nameOfRow(series.row)}: ${nameOfPlace(series.place)}`;
  return {
    id: 'history-row',
    kind: 'history',
    benchmark: series.place.benchmark,
    title: name,
    caption: 'Median time per iteration of each run, and the usual time between changes.',
    summary: summaryOf(trend),
    heightPx: plotHeightPx,
    option: timeChart({
      yName: 'time per iteration',
      text: 'ns',
      lines: [
        { name: 'runs', points: pointsOf(trend) },
        { name: 'usual', points: levelsOf(trend), step: true },
      ],
      marks: marksOf([trend]),
    }),
  };
}

/** Those that changed most, then those that differ most now; in their own order. */
function mostTelling(trends: readonly Trend[]): Trend[] {
  const weight = ({ changes, outlier }: Trend) =>
    Math.max(
      0,
      ...[...changes.map(({ factor }) => factor), outlier ?? 1].map((f) => Math.abs(Math.log(f))),
    );
  const chosen = new Set([...trends].sort((a, b) => weight(b) - weight(a)).slice(0, mostLines));
  return trends.filter((trend) => chosen.has(trend));
}

const boundsOf = ({ series, changes }: Trend): number[] => [
  0,
  ...changes.map(({ index }) => index),
  series.runs.length,
];

function levelMedians(trend: Trend): number[] {
  const bounds = boundsOf(trend);
  return bounds.slice(1).map((to, i) => median(trend.series.nanoseconds.slice(bounds[i], to)));
}

const bestLevel = (trend: Trend): number => Math.min(...levelMedians(trend));

const timeOf = ({ series }: Trend, index: number): number =>
  Date.parse(series.runs[index]!.startedAt);

/** [time, value, low, high, flags]; with `over` the share of it, else the time itself. */
function pointsOf(trend: Trend, over?: number): number[][] {
  const { nanoseconds } = trend.series;
  const count = Math.min(mostPoints, nanoseconds.length);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * nanoseconds.length) / count);
    const to = Math.floor(((i + 1) * nanoseconds.length) / count);
    const time = median(nanoseconds.slice(from, to));
    const y = rounded(over === undefined ? time : over / time);
    return [timeOf(trend, from), y, y, y, 0];
  });
}

function levelsOf(trend: Trend): number[][] {
  const bounds = boundsOf(trend);
  return levelMedians(trend).flatMap((level, i) =>
    [bounds[i]!, bounds[i + 1]! - 1].map((index) => {
      const y = rounded(level);
      return [timeOf(trend, index), y, y, y, 0];
    }),
  );
}

/** One line for all rows that changed on the same day. */
function marksOf(trends: readonly Trend[]): object[] {
  const found = trends.flatMap((trend) =>
    trend.changes.map(({ index, factor }) => ({ at: timeOf(trend, index), factor })),
  );
  const days = groupBy(found, ({ at }) => dayOf(new Date(at).toISOString()));
  return [...days.values()].map((changes) => ({
    xAxis: median(changes.map(({ at }) => at)),
    label: {
      formatter: speedText(median(changes.map(({ factor }) => factor))),
      position: 'insideEndTop',
      rotate: 0,
      color: '@muted',
      backgroundColor: '@paper',
      padding: [1, 4],
      fontSize: 12,
    },
  }));
}

interface TimeChart {
  readonly yName: string;
  readonly text: string;
  readonly lines: readonly { name: string; points: readonly number[][]; step?: boolean }[];
  readonly marks: readonly object[];
}

function timeChart({ yName, text, lines, marks }: TimeChart) {
  const markLine = {
    silent: true,
    symbol: 'none',
    lineStyle: { color: '@muted', type: 'dashed', width: 1 },
    data: marks,
  };
  const series = lines.map(({ name, points, step }, i) => ({
    type: 'line',
    name,
    ...strokeOf({ color: i, dash: 0 }),
    symbolSize: 5,
    showSymbol: !step && points.length <= 60,
    ...(step && { z: 4 }),
    data: points,
    ...(i === 0 && marks.length > 0 && { markLine }),
  }));
  return framed({
    tooltip: `axis date ${text}`,
    legend: lines.map(({ name }) => name),
    x: { ...across({ name: 'start of the run (UTC)', text: 'date' }), ...timeScale },
    y: upright({ name: yName, text }),
    yName,
    series,
    more: { useUTC: true },
  });
}

/** ECharts labels a time axis by itself, in steps that fit: days, months, years. */
const timeScale = {
  type: 'time',
  min: 'dataMin',
  max: 'dataMax',
  axisLabel: {
    ...{ color: '@muted', fontSize: 12, hideOverlap: true, margin: 11 },
    formatter: {
      year: '{yyyy}',
      month: '{MMM} {yyyy}',
      day: '{d} {MMM}',
      hour: '{HH}:{mm}',
      minute: '{HH}:{mm}',
      second: '{HH}:{mm}:{ss}',
    },
  },
};

function summaryOf(trend: Trend): string {
  const { series, changes } = trend;
  const name = nameOfRow(series.row);
  if (changes.length === 0) return `${name} did not change`;
  const said = changes.map(
    ({ index, factor }) => `${speedText(factor)} on ${dayOf(series.runs[index]!.startedAt)}`,
  );
  return `${name} became ${said.join(', ')}`;
}
