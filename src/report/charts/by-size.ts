import { sizeText } from '../../measure/units.js';
import type { Row } from '../../results/schema.js';
import { type AxisOf, across, framed, modelStroke, strokeOf, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { texts } from '../hydrate.js';
import { type Line, sizeName } from '../lines.js';
import { bandOf, gbpsAt } from '../spread.js';
import { decadeTicks, doublingTicks } from '../ticks.js';

export interface Measure {
  readonly axis: AxisOf;
  readonly log?: boolean;
  readonly value: (row: Row) => number | null | undefined;
  readonly range?: (row: Row) => readonly [number, number] | undefined;
}

/** Bits of the fifth number of a point: what its row says about itself. */
export const flagOf = ({ noisy, labels, outcome }: Row): number =>
  (noisy ? 1 : 0) + (labels.burst ? 2 : 0) + (outcome === 'passed' ? 0 : 4);

/** Beyond this bands hide each other and what they surround. */
const mostBands = 8;

/** [size, value, low, high, flags] of each row that has the figure. */
function pointsOf(line: Line, { value, range }: Measure) {
  return line.rows.flatMap((row) => {
    const y = value(row);
    if (y == null || y <= 0 || row.bytes! <= 0) return [];
    const [low, high] = range?.(row) ?? [y, y];
    return [[row.bytes!, rounded(y), rounded(low), rounded(high), flagOf(row)]];
  });
}

interface SizeChart {
  readonly title: string;
  readonly caption: string;
  readonly sizeName?: string;
  readonly measure: Measure;
  /** Levels to draw across, such as a line rate. */
  readonly levels?: readonly { readonly value: number; readonly text: string }[];
}

/** A figure over the size, a line per configuration and run; undefined where fewer than two sizes have it. */
export function chartBySize(lines: readonly Line[], chart: SizeChart): ChartParts | undefined {
  const { measure, levels = [] } = chart;
  const drawn = lines
    .map((line) => ({ line, points: pointsOf(line, measure) }))
    .filter(({ points }) => points.length > 0);
  // A single size is no line: `configurations` shows it.
  const all = drawn.flatMap(({ points }) => points);
  if (new Set(all.map(([bytes]) => bytes)).size < 2) return undefined;
  const models = drawn.filter(({ line }) => line.isModel);
  // Beside measured lines, only what is predicted has a band: nobody can take one for the other.
  const bandable = models.length > 0 ? models : drawn;
  const banded = measure.range !== undefined && bandable.length <= mostBands;
  const caption = captionOf(chart, drawn, banded);
  const lineSeries = drawn.map(({ line, points }, i) => ({
    type: 'line',
    name: line.name,
    ...(line.isModel ? modelStroke(line.color) : strokeOf(line)),
    symbolSize: 7,
    showSymbol: !line.isModel && points.length <= 40,
    z: line.isModel ? 2 : 3,
    data: points.map(markedPoint),
    ...(i === 0 && levels.length > 0 && { markLine: marks(levels) }),
  }));
  const bands = banded ? bandable.flatMap(({ line, points }, i) => band(line, points, i)) : [];
  const top = Math.max(0, ...levels.map(({ value }) => value));
  const sizes = doublingTicks(all.map(([bytes]) => bytes!));
  return {
    title: models.length === 0 ? chart.title : `${chart.title}, beside ${modelNames(models)}`,
    caption: all.some(isFailed) ? `${caption} Crosses mark rows that failed.` : caption,
    summary: drawn.map(({ line, points }) => bestOf(line.name, points, measure.axis)).join('; '),
    heightPx: plotHeightPx,
    option: framed({
      tooltip: `axis bytes ${measure.axis.text}`,
      legend: drawn.map(({ line }) => line.name),
      x: across({ name: chart.sizeName ?? sizeName(lines), text: 'bytes', ticks: sizes }),
      y: upright({
        ...measure.axis,
        ...(!measure.log && { max: topOf(top, all) }),
        ...(measure.log && { ticks: decadeTicks(all.flatMap(([, , low, high]) => [low!, high!])) }),
      }),
      yName: measure.axis.name,
      // Legends show the first series of a name: lines come before their bands.
      series: [...lineSeries, ...bands],
    }),
  };
}

interface Drawn {
  readonly line: Line;
}

/** `the model p5 (predicted)` */
const modelNames = (models: readonly Drawn[]): string =>
  `the model ${[...new Set(models.map(({ line }) => line.run.model!.name))].join(', ')} (predicted)`;

function captionOf(chart: SizeChart, drawn: readonly Drawn[], banded: boolean): string {
  const ranged = chart.measure.range !== undefined;
  if (drawn.some(({ line }) => line.isModel)) {
    const interval = banded ? '; the bands are its 95 % intervals' : '';
    const own = ranged ? 'Means of all iterations.' : chart.caption;
    return `${own} Dashed lines without marks are predicted by the model, not measured${interval}.`;
  }
  if (!ranged || banded) return chart.caption;
  return drawn.some(({ line }) => line.run.model)
    ? 'Predicted times, not measured.'
    : 'Means of all iterations.';
}

const isFailed = ([, , , , flags]: readonly number[]): boolean => (flags! & 4) !== 0;

/** A row that failed must not pass for a result. */
const markedPoint = (point: readonly number[]) =>
  isFailed(point)
    ? {
        value: point,
        symbol: 'path://M0,0L10,10M10,0L0,10',
        symbolSize: 12,
        itemStyle: { color: '@warn', borderColor: '@warn', borderWidth: 2 },
      }
    : point;

/** How far above the highest mean or level a band may draw the axis. */
const mostRoom = 1.5;

/** A level is the top unless something is above it; a band that reaches far above every mean is cut off. */
function topOf(level: number, points: readonly number[][]): number | undefined {
  const highest = Math.max(...points.map(([, , , high]) => high!));
  if (level > 0 && highest <= level) return level;
  const middle = Math.max(level, ...points.map(([, mean]) => mean!));
  return highest > mostRoom * middle ? roundUp(1.2 * middle) : undefined;
}

/** To the next of 1, 1.5, 2, 3, 4, 5, 6, 8, 10 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8].find((each) => each * power >= value) ?? 10;
  return rounded(step * power);
}

/** Two lines that stand on each other: what lies between them is filled. */
function band(line: Line, points: readonly number[][], index: number): object[] {
  const shared = {
    type: 'line',
    name: line.name,
    stack: `band${index}`,
    stackStrategy: 'all',
    silent: true,
    showSymbol: false,
    symbol: 'none',
    lineStyle: { width: 0, opacity: 0 },
    itemStyle: { color: `@series${line.color}` },
    tooltip: { show: false },
    z: 1,
  };
  return [
    { ...shared, data: points.map(([x, , low]) => [x, low]) },
    {
      ...shared,
      areaStyle: { color: `@series${line.color}`, opacity: 0.16 },
      data: points.map(([x, , low, high]) => [x, rounded(high! - low!)]),
    },
  ];
}

const marks = (levels: NonNullable<SizeChart['levels']>): object => ({
  silent: true,
  symbol: 'none',
  lineStyle: { color: '@muted', type: 'dashed', width: 1 },
  data: levels.map(({ value, text }) => ({
    yAxis: value,
    label: {
      formatter: text,
      position: 'insideStartTop',
      color: '@muted',
      backgroundColor: '@paper',
      padding: [1, 4],
      fontSize: 12,
    },
  })),
});

function bestOf(name: string, points: readonly number[][], axis: AxisOf): string {
  const least = axis.text === 'ns';
  const best = points.reduce((a, b) => ((least ? b[1]! < a[1]! : b[1]! > a[1]!) ? b : a));
  return `${name} ${least ? 'lowest' : 'highest'} ${texts[axis.text]!(best[1]!)} at ${sizeText(best[0]!)}`;
}

export const bandwidth: Measure = {
  axis: { name: 'bandwidth', text: 'gbps' },
  value: (row) => row.gbps,
  range: (row) => {
    const times = row.gbps === null ? undefined : bandOf(row);
    return times && [gbpsAt(row, times[1]), gbpsAt(row, times[0])];
  },
};

export const latency: Measure = {
  axis: { name: 'time per iteration', text: 'ns' },
  log: true,
  value: (row) => row.nanoseconds?.mean,
  range: bandOf,
};

export const percent = (name: string, value: Measure['value']): Measure => ({
  axis: { name, text: 'percent' },
  value,
});
