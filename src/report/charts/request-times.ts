import { sizeText } from '../../measure/units.js';
import type { Row } from '../../results/schema.js';
import { type ChartParts, rounded } from '../chart.js';
import { commonBytes, isPassed, type Line, rowAt, withLeftOut } from '../lines.js';
import { shareCurves } from './share-curves.js';

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
  return shareCurves({
    title: `Time to the last page of a request, pages of ${sizeText(bytes)}`,
    caption: withLeftOut(
      'Share of requests whose last page arrived within a given time after the request’s start. A steep curve means equal times; a long tail to the right means slow requests.',
      timed,
      bytes,
    ),
    time: 'time to the last page',
    share: 'share of requests',
    curves: drawn.map(({ line, row }) => ({
      line,
      points: curveOf(row),
      p50: row.lastPageP50Nanoseconds!,
      p99: row.lastPageP99Nanoseconds!,
    })),
    symbols: { showSymbol: false },
  });
}

function curveOf({ requestTimes: { quantiles } }: Timed): number[][] {
  const last = quantiles.length - 1;
  return quantiles.map((time, i) => [rounded(time), rounded((i * 100) / last)]);
}
