import { formatNanoseconds, sizeText } from '../../measure/units.js';
import type { Row } from '../../results/schema.js';
import { across, framed, strokeOf, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { commonBytes, isPassed, type Line, rowAt, withLeftOut } from '../lines.js';
import { decadeTicks } from '../ticks.js';

type Timed = Row & { readonly requestTimes: NonNullable<Row['requestTimes']> };

const isTimed = (row: Row | undefined): row is Timed =>
  row !== undefined && isPassed(row) && (row.requestTimes?.quantiles.length ?? 0) > 1;

/** The share of requests that were complete within a time, at one size. */
export function requestTimes(lines: readonly Line[]): ChartParts | undefined {
  const timed = lines.filter((line) => line.rows.some(isTimed));
  const bytes = commonBytes(timed);
  if (bytes === undefined) return undefined;
  const drawn = timed.flatMap((line) => {
    const row = rowAt(line, bytes);
    return isTimed(row) ? [{ line, row }] : [];
  });
  if (drawn.length === 0) return undefined;
  const times = drawn.flatMap(({ row }) => row.requestTimes.quantiles);
  return {
    title: `Time to the last page of a request, pages of ${sizeText(bytes)}`,
    caption: withLeftOut(
      'Share of requests whose last page arrived within a given time after the request’s start. A steep curve means equal times; a long tail to the right means slow requests.',
      timed,
      bytes,
    ),
    summary: drawn.map(({ line, row }) => `${line.name} ${summaryOf(row)}`).join('; '),
    heightPx: plotHeightPx,
    option: framed({
      tooltip: 'share ns percent',
      trigger: 'item',
      legend: drawn.map(({ line }) => line.name),
      x: across({ name: 'time to the last page', text: 'ns', ticks: decadeTicks(times) }),
      y: upright({ name: 'share of requests', text: 'percent', max: 100 }),
      yName: 'share of requests',
      series: drawn.map(({ line, row }) => ({
        type: 'line',
        step: 'end',
        name: line.name,
        ...strokeOf(line),
        showSymbol: false,
        data: curveOf(row),
      })),
    }),
  };
}

const summaryOf = ({ lastPageP50Nanoseconds: p50, lastPageP99Nanoseconds: p99 }: Row): string =>
  `p50 ${formatNanoseconds(p50!)}, p99 ${formatNanoseconds(p99!)}`;

function curveOf({ requestTimes: { quantiles } }: Timed): number[][] {
  const last = quantiles.length - 1;
  return quantiles.map((time, i) => [rounded(time), rounded((i * 100) / last)]);
}
