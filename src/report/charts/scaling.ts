import { type AxisOf, across, framed, strokeOf, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { groupBy } from '../group.js';
import { bytesText, texts } from '../hydrate.js';
import { commonBytes, type Line, rowAt } from '../lines.js';
import { doublingTicks } from '../ticks.js';
import { flagOf, type Measure } from './by-size.js';

export interface ScalingChart {
  readonly title: (size: string) => string;
  readonly caption: string;
  readonly xName: string;
  readonly x: (line: Line) => number | undefined;
  readonly measure: Measure;
}

/**
 * A figure at one size over something that differs between runs: hosts, buffers, a kernel's grid. A line per
 * configuration; undefined where fewer than two values of x are there.
 */
export function scalingChart(
  lines: readonly Line[],
  chart: ScalingChart,
  nameOf: (line: Line) => string = (line) => line.column,
): ChartParts | undefined {
  const bytes = commonBytes(lines);
  if (bytes === undefined) return undefined;
  const groups = groupBy(lines, nameOf);
  const drawn = [...groups].map(([name, group]) => ({
    name,
    color: group[0]!.color,
    points: group.flatMap((line) => pointOf(line, bytes, chart)).sort((a, b) => a[0]! - b[0]!),
  }));
  const xs = new Set(drawn.flatMap(({ points }) => points.map(([x]) => x!)));
  if (xs.size < 2) return undefined;
  const seen = drawn.filter(({ points }) => points.length > 0);
  const { axis } = chart.measure;
  return {
    title: chart.title(bytesText(bytes)),
    caption: chart.caption,
    summary: seen.map(({ name, points }) => changeOf(name, points, axis)).join('; '),
    heightPx: plotHeightPx,
    option: framed({
      tooltip: `axis number ${axis.text}`,
      legend: seen.map(({ name }) => name),
      x: across({
        name: chart.xName,
        text: 'number',
        ...(doubles(xs) && { ticks: doublingTicks([...xs]) }),
      }),
      y: upright(axis),
      yName: axis.name,
      series: seen.map(({ name, color, points }) => ({
        type: 'line',
        name,
        ...strokeOf({ color, dash: 0 }),
        symbolSize: 8,
        data: points,
      })),
    }),
  };
}

function pointOf(line: Line, bytes: number, { x, measure }: ScalingChart): number[][] {
  const row = rowAt(line, bytes);
  const at = x(line);
  const y = row && measure.value(row);
  if (at === undefined || row === undefined || y == null) return [];
  const [low, high] = measure.range?.(row) ?? [y, y];
  return [[at, rounded(y), rounded(low), rounded(high), flagOf(row)]];
}

/** Steps of at least half as much again read better on a logarithmic scale. */
function doubles(xs: ReadonlySet<number>): boolean {
  const sorted = [...xs].sort((a, b) => a - b);
  return (
    sorted[0]! > 0 &&
    sorted.length > 2 &&
    sorted.every((x, i) => i === 0 || x >= 1.5 * sorted[i - 1]!)
  );
}

function changeOf(name: string, points: readonly number[][], axis: AxisOf): string {
  const text = texts[axis.text]!;
  const [first, last] = [points[0]!, points.at(-1)!];
  if (first === last) return `${name} ${text(first[1]!)} at ${first[0]}`;
  return `${name} from ${text(first[1]!)} at ${first[0]} to ${text(last[1]!)} at ${last[0]}`;
}
