import { totalsOf } from '../../analysis/soak/nic-counts.js';
import { isNoisy } from '../../measure/statistics.js';
import type { Path } from '../../results/path.js';
import { measuredRow } from '../../results/rows.js';
import type { Row } from '../../results/schema.js';
import type { NicTotals } from '../../results/soak.js';
import { judged, type RowSubject } from '../row.js';
import type { Checked } from '../verify.js';
import type { Interval } from './course.js';
import type { Ledger } from './ledger.js';

interface SoakRowParts {
  readonly ledger: Ledger;
  readonly cell: number;
  readonly subject: RowSubject;
  readonly checked: readonly Checked[];
  readonly interval: Interval;
  readonly path?: Path | undefined;
}

/** Of an interval's samples, as many are kept as show their spread. */
const keptSamples = 33;
/** In a row of a large world, only NICs that lost or repeated something are kept; `counters` has the totals. */
const mostNics = 64;

/** One interval of one column and size; undefined where it had no loop in it. */
export function soakRow(parts: SoakRowParts): Row | undefined {
  const { ledger, cell, subject, interval } = parts;
  const { histogram, batch } = ledger.cell(cell);
  if (histogram.count === 0) return undefined;
  const counted = parts.path && countedPath(parts.path);
  const row = measuredRow({
    ...judged(subject, histogram.mean, parts.checked),
    samples: [Math.round(histogram.mean * batch)],
    batch,
    ...(counted && { path: counted.path }),
  });
  return intervalRow(row, ledger, cell, interval, counted?.counters);
}

/** A row with the times of an interval in place of its own. */
export function intervalRow(
  row: Row,
  ledger: Ledger,
  cell: number,
  interval: Interval,
  counters?: NicTotals,
): Row {
  const { histogram, iterations, batch, stalls, stallCount } = ledger.cell(cell);
  const samples = histogram.spread(keptSamples).map((each) => Math.round(each * batch));
  const { min, mean, max } = histogram;
  const [p50, p95, p99, p999] = histogram.percentiles([50, 95, 99, 99.9]);
  return {
    ...row,
    iterations,
    batch,
    samples,
    noisy: isNoisy(samples),
    nanoseconds: { min, mean, p50: p50!, p95: p95!, p99: p99!, max, stddev: null, ci95: null },
    repeat: interval.number,
    soak: {
      startedAt: new Date(ledger.startedAt).toISOString(),
      endedAt: new Date().toISOString(),
      p999: p999!,
      stalls: [...stalls].sort((a, b) => a.at.localeCompare(b.at)),
      stallCount,
      links: ledger.takeLinks(),
      ...(counters && { counters }),
      ...(interval.reopened && { reopened: true }),
    },
  };
}

export function countedPath(path: Path): { path: Path; counters: NicTotals } {
  const { nics } = path;
  const telling = nics.filter(({ retransmits, drops }) => retransmits || drops);
  const kept = nics.length <= mostNics ? nics : telling.slice(0, mostNics);
  return { path: { ...path, nics: kept }, counters: totalsOf(nics) };
}
