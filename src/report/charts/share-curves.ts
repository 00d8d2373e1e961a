import { formatNanoseconds } from '../../measure/units.js';
import { across, framed, strokeOf, upright } from '../axes.js';
import { type ChartParts, plotHeightPx } from '../chart.js';
import type { Line } from '../lines.js';
import { decadeTicks } from '../ticks.js';

interface ShareCurves {
  readonly title: string;
  readonly caption: string;
  /** What the times are of: the x axis. */
  readonly time: string;
  /** What the shares are of: the y axis. */
  readonly share: string;
  readonly curves: readonly {
    readonly line: Line;
    /** [nanoseconds, percent] */
    readonly points: readonly (readonly number[])[];
    readonly p50: number;
    readonly p99: number;
  }[];
  /** How the points of a curve are marked. */
  readonly symbols: { readonly showSymbol: false } | { readonly symbolSize: number };
}

/** The share that was done within a time, a curve per line. */
export function shareCurves(chart: ShareCurves): ChartParts {
  const { title, caption, time, share, curves, symbols } = chart;
  const times = curves.flatMap(({ points }) => points.map(([at]) => at!));
  return {
    title,
    caption,
    summary: curves
      .map(
        ({ line, p50, p99 }) =>
          `${line.name} p50 ${formatNanoseconds(p50)}, p99 ${formatNanoseconds(p99)}`,
      )
      .join('; '),
    heightPx: plotHeightPx,
    option: framed({
      tooltip: 'share ns percent',
      trigger: 'item',
      legend: curves.map(({ line }) => line.name),
      x: across({ name: time, text: 'ns', ticks: decadeTicks(times) }),
      y: upright({ name: share, text: 'percent', max: 100 }),
      yName: share,
      series: curves.map(({ line, points }) => ({
        type: 'line',
        step: 'end',
        name: line.name,
        ...strokeOf(line),
        ...symbols,
        data: points,
      })),
    }),
  };
}
