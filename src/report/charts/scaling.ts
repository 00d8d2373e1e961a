import { groupBy } from '../../measure/group.js';
import { sizeText } from '../../measure/units.js';
import { type AxisOf, across, framed, strokeOf, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { texts } from '../hydrate.js';
import { commonBytes, type Line, rowAt, withLeftOut } from '../lines.js';
import { doublingTicks } from '../ticks.js';
import { flagOf, type Measure } from './by-size.js';

export interface ScalingChart {
  readonly title: (size: string) => string;
  readonly caption: string;
  readonly xName: string;
  readonly x: (line: Line) => number | undefined;
  readonly measure: Measure;
  /** Lines of one name are one line of the chart: they must differ in x alone. */
  readonly nameOf: (line: Line) => string;
  /** Lines of a family share a colour and differ in dash. Default: those of a configuration. */
  readonly familyOf?: (line: Line) => string;
}

/**
 * A figure at one size over something that differs between runs: hosts, buffers, a kernel's grid. A line per
 * configuration; undefined where no line has two values of x.
 */
export function scalingChart(lines: readonly Line[], chart: ScalingChart): ChartParts | undefined {
  const bytes = commonBytes(lines);
  if (bytes === undefined) return undefined;
  const seen = drawnLines(lines, bytes, chart);
  const joined = seen.some(({ points }) => new Set(points.map(([x]) => x)).size > 1);
  if (!joined) return undefined;
  const xs = new Set(seen.flatMap(({ points }) => points.map(([x]) => x!)));
  const { axis } = chart.measure;
  return {
    title: chart.title(sizeText(bytes)),
    caption: withLeftOut(chart.caption, lines, bytes),
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
      series: seen.map(({ name, color, dash, points }) => ({
        type: 'line',
        name,
        ...strokeOf({ color, dash }),
        symbolSize: 8,
        data: points,
      })),
    }),
  };
}

function drawnLines(lines: readonly Line[], bytes: number, chart: ScalingChart) {
  const dashes = new Map<number, number>();
  const families = [...new Set(chart.familyOf ? lines.map(chart.familyOf) : [])];
  return [...groupBy(lines, chart.nameOf)].flatMap(([name, group]) => {
    const color = chart.familyOf ? families.indexOf(chart.familyOf(group[0]!)) : group[0]!.color;
    const points = group.flatMap((line) => pointOf(line, bytes, chart));
    if (points.length === 0) return [];
    const dash = dashes.get(color) ?? 0;
    dashes.set(color, dash + 1);
    return [{ name, color, dash, points: points.sort((a, b) => a[0]! - b[0]!) }];
  });
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
