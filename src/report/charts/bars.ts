import { type AxisOf, framed, places, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { texts } from '../hydrate.js';

export interface Bar {
  readonly name: string;
  readonly color: number;
  /** One per place; null where it has none. */
  readonly values: readonly (number | null)[];
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
}

/** Bars side by side in each place; undefined where there is nothing to draw. */
export function barChart(chart: BarChart): ChartParts | undefined {
  const bars = chart.bars.filter((bar) => bar.values.some((value) => value !== null));
  if (bars.length === 0) return undefined;
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
      series: bars.map((bar) => ({
        type: 'bar',
        name: bar.name,
        itemStyle: { color: `@series${bar.color}`, borderRadius: [2, 2, 0, 0] },
        barMaxWidth: 56,
        barGap: '12%',
        data: bar.values.map((value, i) => pointOf(value, i, bar.ranges?.[i])),
        ...(bars.length * chart.places.length <= 12 && { label: valueLabel(chart.axis) }),
      })),
    }),
  };
}

const pointOf = (value: number | null, place: number, range = undefined as Range) =>
  value === null ? null : [place, rounded(value), ...(range ?? []).map(rounded)];
type Range = readonly [number, number] | undefined;

const valueLabel = ({ text }: AxisOf): object => ({
  show: true,
  position: 'top',
  color: '@text',
  fontSize: 12,
  formatter: `@value ${text} 1`,
});

/** The ends of the scale, in words. */
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
