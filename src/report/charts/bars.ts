import { type AxisOf, framed, places, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { texts } from '../hydrate.js';

interface Bar {
  readonly name: string;
  readonly color: number;
  /** One per place; null where it has none. */
  readonly values: readonly (number | null)[];
  /** Drawn pale, beside a bar of the same colour that it belongs to. */
  readonly pale?: boolean;
  /** Of the palette, per place; default: `color` in all. */
  readonly colors?: readonly number[];
  /** What the iterations covered, per place. */
  readonly ranges?: readonly (readonly [number, number] | undefined)[];
}

export interface BarChart {
  readonly title: string;
  readonly caption: string;
  readonly places: readonly string[];
  readonly placesName?: string;
  readonly axis: AxisOf;
  readonly bars: readonly Bar[];
  readonly stacked?: boolean;
}

/** Labels with more characters than this touch each other. */
const mostLabelled = 54;

/** Bars side by side in each place; undefined where there is nothing to draw. */
export function barChart(chart: BarChart): ChartParts | undefined {
  const bars = chart.bars.filter((bar) => bar.values.some((value) => value !== null));
  if (bars.length === 0) return undefined;
  const labels = bars.flatMap(({ values }) =>
    values.flatMap((value) => (value === null ? [] : texts[chart.axis.text]!(value))),
  );
  const longest = Math.max(...labels.map(({ length }) => length));
  const labelled = bars.length <= 2 && longest * labels.length <= mostLabelled;
  return {
    title: chart.title,
    caption: chart.caption,
    summary: summaryOf(bars, chart),
    heightPx: plotHeightPx,
    option: framed({
      tooltip: `axis name ${chart.axis.text}`,
      legend: bars.map((bar) => bar.name),
      x: places(chart.places, chart.placesName),
      y: upright(chart.axis),
      yName: chart.axis.name,
      series: bars.map((bar) => ({
        type: 'bar',
        name: bar.name,
        itemStyle: {
          color: `@series${bar.color}`,
          ...(bar.pale && { opacity: 0.4 }),
          ...(!chart.stacked && { borderRadius: [2, 2, 0, 0] }),
        },
        ...(chart.stacked && { stack: 'all' }),
        barMaxWidth: 56,
        barGap: '12%',
        data: bar.values.map((_, i) => pointOf(bar, i)),
        ...(labelled && {
          label: valueLabel(chart.axis),
          labelLayout: { hideOverlap: true },
        }),
      })),
    }),
  };
}

function pointOf({ values, ranges, colors }: Bar, place: number) {
  if (values[place] == null) return null;
  const value = [place, rounded(values[place]), ...(ranges?.[place] ?? []).map(rounded)];
  return colors === undefined ? value : { value, itemStyle: { color: `@series${colors[place]}` } };
}

const valueLabel = ({ text }: AxisOf): object => ({
  show: true,
  position: 'top',
  color: '@text',
  fontSize: 12,
  formatter: `@value ${text} 1`,
});

function summaryOf(bars: readonly Bar[], { places: names, axis }: BarChart): string {
  const all = bars.flatMap((bar) =>
    bar.values.flatMap((value, i) =>
      value === null
        ? []
        : [{ value, name: bars.length > 1 ? `${names[i]} ${bar.name}` : names[i]! }],
    ),
  );
  const sorted = all.toSorted((a, b) => a.value - b.value);
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const text = texts[axis.text]!;
  if (low === high) return `${low.name}: ${text(low.value)}`;
  return `highest ${high.name} with ${text(high.value)}, lowest ${low.name} with ${text(low.value)}`;
}
