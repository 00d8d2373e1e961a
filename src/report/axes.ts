import type { ChartOption } from './chart.js';
import { legendHeightPx } from './hydrate.js';
import type { Ticks } from './ticks.js';

/** Without quotes: they would end the attribute that ECharts writes it into. */
export const fontFamily = 'system-ui, -apple-system, Roboto, Arial, sans-serif';

/** What a number is: how its axis is scaled and written. */
export interface AxisOf {
  /** Shown beside the axis, with the unit where the ticks do not say it. */
  readonly name: string;
  /** A name in `texts`. */
  readonly text: string;
  /** Makes the axis logarithmic; from `doublingTicks` or `decadeTicks`. */
  readonly ticks?: Ticks;
  readonly max?: number;
}

const label = { color: '@muted', fontSize: 12, hideOverlap: true, margin: 11 };
const axisLine = { show: true, lineStyle: { color: '@line' } };
const splitLine = { show: true, lineStyle: { color: '@grid' } };
const nameTextStyle = { color: '@muted', fontSize: 12 };

function scale({ text, ticks, max }: AxisOf): object {
  const axisLabel = { ...label, formatter: `@${text}` };
  if (ticks === undefined) {
    return { type: 'value', min: 0, ...(max !== undefined && { max }), axisLabel };
  }
  const { min, max: most, values: customValues } = ticks;
  return { type: 'log', min, max: most, axisLabel: { ...axisLabel, customValues } };
}

/** The horizontal axis; its name stands below its middle. */
export const across = (axis: AxisOf): object => ({
  ...scale(axis),
  name: axis.name,
  nameLocation: 'middle',
  nameGap: 34,
  nameTextStyle,
  axisLine,
  axisTick: {
    show: true,
    lineStyle: { color: '@line' },
    ...(axis.ticks && { customValues: axis.ticks.values }),
  },
  splitLine: { show: false },
});

/** The vertical axis. Its name stands above the chart, where it is read without turning the head: see `framed`. */
export const upright = (axis: AxisOf): object => ({
  ...scale(axis),
  axisLine: { show: false },
  axisTick: { show: false },
  splitLine: { ...splitLine, ...(axis.ticks && { customValues: axis.ticks.values }) },
});

/** As many characters as stand beside each other under a chart, and names as are all shown. */
const mostBeside = 66;
const mostNames = 16;

function isCrowded(names: readonly string[]): boolean {
  const longest = Math.max(0, ...names.map(({ length }) => length));
  return names.length <= mostNames && longest * names.length > mostBeside;
}

/** Every place has its name where there is room; `interval` leaves out so many between two. */
export const places = (
  names: readonly string[],
  name = '',
  interval: number | 'auto' = names.length > mostNames ? 'auto' : 0,
): object => ({
  type: 'category',
  data: [...names],
  name,
  nameLocation: 'middle',
  nameGap: 32,
  nameTextStyle,
  axisLabel: {
    ...label,
    interval,
    ...(isCrowded(names) ? { rotate: 30 } : { width: 110, overflow: 'break' }),
  },
  axisLine,
  axisTick: { show: false },
});

interface Frame {
  /** Words for the page's tooltip: the kind, then the names of texts. */
  readonly tooltip: string;
  readonly trigger?: 'axis' | 'item';
  readonly legend?: readonly string[];
  readonly x: object;
  readonly y: object;
  readonly yName: string;
  readonly series: readonly object[];
  readonly more?: ChartOption;
}

export function framed({ tooltip, trigger = 'axis', legend = [], ...rest }: Frame): ChartOption {
  const named = legend.length > 1;
  return {
    animation: false,
    backgroundColor: '@paper',
    textStyle: { fontFamily, color: '@text' },
    grid: {
      left: 12,
      right: 24,
      top: (named ? legendHeightPx : 0) + 44,
      bottom: (rest.x as { name?: string }).name ? 34 : 14,
      outerBoundsMode: 'same',
      outerBoundsContain: 'axisLabel',
    },
    title: {
      text: rest.yName,
      left: 0,
      top: named ? legendHeightPx : 0,
      padding: [4, 0],
      textStyle: { color: '@muted', fontSize: 12, fontWeight: 'normal', fontFamily },
    },
    tooltip: tooltipOf(tooltip, trigger),
    ...(named && { legend: legendOf(legend) }),
    xAxis: rest.x,
    yAxis: rest.y,
    series: rest.series,
    ...rest.more,
  };
}

const tooltipOf = (words: string, trigger: NonNullable<Frame['trigger']>): object => ({
  trigger,
  confine: true,
  formatter: `@tooltip ${words}`,
  backgroundColor: '@paper',
  borderColor: '@line',
  textStyle: { color: '@text', fontSize: 13, fontFamily },
  axisPointer: { type: 'line', lineStyle: { color: '@line' } },
});

const legendOf = (names: readonly string[]): object => ({
  type: 'scroll',
  top: 0,
  left: 0,
  right: 0,
  itemWidth: 28,
  itemGap: 18,
  textStyle: { color: '@text', fontSize: 13 },
  inactiveColor: '@line',
  pageTextStyle: { color: '@muted' },
  data: [...names],
});

const symbols = [
  'circle',
  'rect',
  'triangle',
  'diamond',
  'emptyCircle',
  'emptyRect',
  'emptyTriangle',
  'emptyDiamond',
];
const dashes = ['solid', 'dashed', 'dotted', [12, 4, 2, 4], [2, 6], [16, 4]];

/** Of a model beside measured lines: thin dashes, and no symbols, which stand for measured rows. */
export const modelStroke = (color: number): object => ({
  symbol: 'none',
  itemStyle: { color: `@series${color}` },
  lineStyle: { color: `@series${color}`, width: 1.75, type: [7, 5] },
});

/** Colour, symbol and dash together: no two lines differ by colour alone, also where a palette begins again. */
export const strokeOf = ({ color, dash }: { color: number; dash: number }): object => ({
  symbol: symbols[(color + Math.floor(color / symbols.length)) % symbols.length],
  itemStyle: { color: `@series${color}` },
  lineStyle: { color: `@series${color}`, width: 2.25, type: dashes[dash % dashes.length] },
});
