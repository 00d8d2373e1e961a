import { fontFamily, framed, places } from '../axes.js';
import { rounded } from '../chart.js';
import { texts } from '../hydrate.js';

const cellsWithText = 12;
const cellsWithLines = 48;
const mostNamesUpright = 32;

/** Ranks against ranks: cells are column, row and value; missing ones are crossed. */
interface MapParts {
  readonly names: readonly string[];
  readonly text: 'gbps' | 'ns';
  readonly cells: readonly number[][];
  readonly missing: readonly number[][];
  readonly extent: readonly [number, number];
}

export function mapOption({ names, text, cells, missing, extent }: MapParts) {
  const shownText = names.length <= cellsWithText;
  return framed({
    tooltip: `cell ${text}`,
    trigger: 'item',
    x: { ...places(names, 'to rank'), splitArea: { show: false } },
    y: { ...places(names, '', Math.ceil(names.length / mostNamesUpright) - 1), inverse: true },
    yName: 'from rank',
    series: [
      {
        type: 'heatmap',
        data: cells,
        label: {
          show: shownText,
          fontSize: 11,
          formatter: `@value ${text === 'gbps' ? 'number' : text} 2`,
        },
        itemStyle: { borderColor: '@paper', borderWidth: names.length <= cellsWithLines ? 1 : 0 },
        emphasis: { itemStyle: { borderColor: '@text', borderWidth: 2 } },
      },
      {
        type: 'scatter',
        symbol: 'path://M0,0L10,10M10,0L0,10',
        symbolSize: 12,
        itemStyle: { color: '@warn', borderColor: '@warn', borderWidth: 1.5 },
        data: missing,
      },
    ],
    more: {
      grid: { left: 12, right: 24, top: 34, bottom: 92, outerBoundsMode: 'same' },
      visualMap: scaleOf(extent, texts[text]!),
    },
  });
}

export function scaleOf([low, high]: MapParts['extent'], text: (value: number) => string): object {
  // The whole range of colours for a difference of 2 % would cry wolf: a scale spans a tenth at least.
  const floor = Math.min(low, high * 0.9);
  return {
    type: 'continuous',
    seriesIndex: 0,
    dimension: 2,
    min: rounded(floor),
    max: rounded(high),
    calculable: false,
    orient: 'horizontal',
    left: 'center',
    bottom: 6,
    itemWidth: 14,
    itemHeight: 260,
    text: [text(high), text(floor)],
    textStyle: { color: '@muted', fontFamily },
    inRange: { color: [0, 1, 2, 3, 4, 5, 6].map((i) => `@heat${i}`) },
  };
}
