import { summarize, weightedMean } from '../measure/summary.js';
import { partsOf } from './repeated-parts.js';
import { rowsByKey } from './row-key.js';
import type { Row, Run } from './schema.js';

/** A run whose repeats became one row each, with the rows as they were measured beside them. */
export type RepeatedRun = Run & { readonly repeated?: readonly Row[] };

/** A run with one row for each thing measured: repeats become one row over all their samples. */
export function mergeRepeats(run: Run): RepeatedRun {
  if (run.rows.every((row) => row.repeat === undefined)) return run;
  const rows = [...rowsByKey(run.rows).values()].map(mergeRows);
  return { ...run, rows, repeated: run.rows };
}

/** What failed once has failed; otherwise all samples count alike. */
function mergeRows(rows: readonly Row[]): Row {
  const bad = rows.find((row) => row.outcome === 'failed' || row.outcome === 'aborted');
  const measured = rows.filter((row) => row.nanoseconds !== null && row.samples.length > 0);
  const [first] = measured;
  if (bad || !first) return bad ?? rows[0]!;
  const perIteration = measured.flatMap((row) => row.samples.map((sample) => sample / row.batch));
  // The rows' own means count all samples; pages have only some of them.
  const mean = weightedMean(
    measured.map((row) => row.nanoseconds!.mean),
    measured.map((row) => row.iterations),
  );
  const [lows, highs] = (['min', 'max'] as const).map((key) =>
    measured.map((row) => row.nanoseconds![key]),
  );
  const { repeat: _, soak: __, samplesTaken: ___, ...subject } = first;
  return {
    ...subject,
    ...scaled(first, first.nanoseconds!.mean / mean),
    ...partsOf(measured),
    noisy: measured.some((row) => row.noisy),
    iterations: sum(measured.map((row) => row.iterations)),
    batch: 1,
    nanoseconds: {
      ...summarize(perIteration),
      mean,
      min: Math.min(...lows!),
      max: Math.max(...highs!),
    },
    samples: perIteration.map(Math.round),
    ...(measured.some((row) => row.samplesTaken !== undefined) && {
      samplesTaken: sum(measured.map((row) => row.samplesTaken ?? row.samples.length)),
    }),
    checked: {
      bytes: sum(measured.map((row) => row.checked.bytes)),
      wrong: sum(measured.map((row) => row.checked.wrong)),
    },
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

const rates = [
  ...(['gbps', 'lineGbps', 'busbwPercent', 'linePercent', 'ofBoundPercent'] as const),
  ...(['mops', 'algbwGBps', 'busbwGBps'] as const),
];

/** Rates are so many bytes over the mean time: another mean scales them all. */
export function scaled(row: Row, factor: number): Partial<Row> {
  const { halfRoundTripNanoseconds: half } = row;
  const times = rates.flatMap((key) => (row[key] == null ? [] : [[key, row[key] * factor]]));
  const trip = half === undefined ? {} : { halfRoundTripNanoseconds: half / factor };
  return { ...Object.fromEntries(times), ...trip };
}
