import type { ChartOption } from './chart.js';

export const fontFamily = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", Arial, sans-serif';

/** What a number is: how its axis is scaled and written. */
export interface AxisOf {
  /** Shown beside the axis, with the unit where the ticks do not say it. */
  readonly name: string;
  /** A name in `texts`. */
  readonly text: string;
  readonly log?: 2 | 10;
  readonly max?: number;
}

const label = { color: '@muted', fontSize: 12, hideOverlap: true };
const axisLine = { show: true, lineStyle: { color: '@line' } };
const splitLine = { show: true, lineStyle: { color: '@grid' } };
const nameTextStyle = { color: '@muted', fontSize: 12 };

function scale({ text, log, max }: AxisOf): object {
  return {
    type: log === undefined ? 'value' : 'log',
    ...(log !== undefined && { logBase: log }),
    ...(log === undefined && { min: 0 }),
    ...(max !== undefined && { max }),
    axisLabel: { ...label, formatter: `@${text}` },
  };
}

/** The horizontal axis; its name stands below its middle. */
export const across = (axis: AxisOf): object => ({
  ...scale(axis),
  name: axis.name,
  nameLocation: 'middle',
  nameGap: 30,
  nameTextStyle,
  axisLine,
  axisTick: { show: true, lineStyle: { color: '@line' } },
  splitLine: { show: false },
});

/** The vertical axis; its name stands above it, where it can be read without turning the head. */
export const upright = (axis: AxisOf): object => ({
  ...scale(axis),
  name: axis.name,
  nameLocation: 'end',
  nameGap: 14,
  nameTextStyle: { ...nameTextStyle, align: 'left', padding: [0, 0, 0, -44] },
  axisLine: { show: false },
  axisTick: { show: false },
  splitLine,
});

/** One place per name. */
export const places = (names: readonly string[], name = ''): object => ({
  type: 'category',
  data: [...names],
  name,
  nameLocation: 'middle',
  nameGap: 32,
  nameTextStyle,
  axisLabel: { ...label, interval: names.length > 16 ? 'auto' : 0, width: 110, overflow: 'break' },
  axisLine,
  axisTick: { show: false },
});

export interface Frame {
  /** Words for the page's tooltip: the kind, then the names of texts. */
  readonly tooltip: string;
  readonly trigger?: 'axis' | 'item';
  readonly legend?: readonly string[];
  readonly x: object;
  readonly y: object;
  readonly series: readonly object[];
  readonly more?: ChartOption;
}

const legendHeightPx = 34;

/** What all charts with two axes share. */
export function framed({ tooltip, trigger = 'axis', legend = [], ...rest }: Frame): ChartOption {
  const named = legend.length > 1;
  return {
    animation: false,
    backgroundColor: '@paper',
    textStyle: { fontFamily, color: '@text' },
    grid: {
      left: 12,
      right: 24,
      top: (named ? legendHeightPx : 0) + 40,
      bottom: 34,
      outerBoundsMode: 'same',
      outerBoundsContain: 'axisLabel',
    },
    tooltip: {
      trigger,
      confine: true,
      formatter: `@tooltip ${tooltip}`,
      backgroundColor: '@paper',
      borderColor: '@line',
      textStyle: { color: '@text', fontSize: 13, fontFamily },
      axisPointer: { type: 'line', lineStyle: { color: '@line' } },
    },
    ...(named && {
      legend: {
        type: 'scroll',
        top: 0,
        left: 0,
        right: 0,
        itemWidth: 28,
        itemGap: 18,
        textStyle: { color: '@text', fontSize: 13 },
        inactiveColor: '@line',
        pageTextStyle: { color: '@muted' },
        data: [...legend],
      },
    }),
    xAxis: rest.x,
    yAxis: rest.y,
    series: rest.series,
    ...rest.more,
  };
}

const symbols = [
  'circle',
  'rect',
  'triangle',
  'diamond',
  'roundRect',
  'pin',
  'arrow',
  'emptyCircle',
];
const dashes = ['solid', 'dashed', 'dotted', [12, 4, 2, 4], [2, 6], [16, 4]];

/** Colour, symbol and dash together: no two lines differ by colour alone. */
export const strokeOf = ({ color, dash }: { color: number; dash: number }): object => ({
  symbol: symbols[color % symbols.length],
  itemStyle: { color: `@series${color}` },
  lineStyle: { color: `@series${color}`, width: 2.25, type: dashes[dash % dashes.length] },
});
