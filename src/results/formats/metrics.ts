import type { History, Trend } from '../../analysis/history/history.js';
import { type Place, placeOf } from '../../analysis/history/series.js';
import { usualGbps } from '../../analysis/history/words.js';
import { byRank } from '../large-matrix.js';
import { mergeRepeats } from '../repeats.js';
import type { RowSubject } from '../row-key.js';
import type { Row, Run } from '../schema.js';
import {
  asRatio,
  expositionText,
  type Family,
  inBytesPerSecond,
  inSeconds,
  inUnixSeconds,
} from './exposition.js';

const rowLabels = ({ benchmark, ranks, hosts, provider }: Place, row: RowSubject) => {
  const { from, to, rail, producer, grid, block } = row.labels;
  return {
    ...{ benchmark, ranks, hosts, provider, column: row.column, size_bytes: row.bytes },
    ...{ from, to, rail, producer, grid, block },
  };
};

/** Runs of benchmarks; of two runs of the same thing the later counts. */
export const formatRunMetrics = (runs: readonly Run[]): string =>
  expositionText([...runFamilies(runs), ...rowFamilies(runs)]);

function runFamilies(runs: readonly Run[]): Family[] {
  const family = (name: string, help: string, value: (run: Run) => number | undefined): Family => ({
    name: `weft_run_${name}`,
    help,
    samples: runs.map((run) => ({ labels: { ...placeOf(run) }, value: value(run) })),
  });
  return [
    family('passed', '1 if every row of the run passed, else 0.', ({ outcome }) =>
      outcome === 'passed' ? 1 : 0,
    ),
    family('timestamp_seconds', 'When the run ended.', ({ endedAt, startedAt }) =>
      inUnixSeconds(endedAt ?? startedAt),
    ),
    family('emulated', '1 if any measured device was emulated.', ({ fabric }) =>
      fabric.emulated ? 1 : undefined,
    ),
  ];
}

function rowFamilies(runs: readonly Run[]): Family[] {
  const rows = runs.flatMap((run) => {
    const place = placeOf(run);
    return byRank(mergeRepeats(run)).rows.map((row) => ({ labels: rowLabels(place, row), row }));
  });
  const family = (name: string, help: string, value: (row: Row) => number | undefined): Family => ({
    name: `weft_row_${name}`,
    help,
    samples: rows.map(({ labels, row }) => ({ labels, value: value(row) })),
  });
  const times = (['min', 'mean', 'p50', 'p95', 'p99', 'max'] as const).flatMap((statistic) =>
    rows.map(({ labels, row }) => ({
      labels: { ...labels, statistic },
      value: inSeconds(row.nanoseconds?.[statistic]),
    })),
  );
  return [
    family('passed', '1 if the row passed, 0 if it failed; absent if it was skipped.', passedOf),
    { name: 'weft_row_time_seconds', help: 'Time of one iteration.', samples: times },
    ...rates.map(([name, help, value]) => family(name, help, value)),
  ];
}

const rates: readonly (readonly [string, string, (row: Row) => number | undefined])[] = [
  [
    'bandwidth_bytes_per_second',
    'Bytes per peer over the mean time.',
    ({ gbps }) => inBytesPerSecond(gbps),
  ],
  [
    'line_bytes_per_second',
    'Bytes that one rank put on the wire per second.',
    ({ lineGbps }) => inBytesPerSecond(lineGbps),
  ],
  [
    'busbw_ratio',
    'Bandwidth over the line rate of the channels used.',
    ({ busbwPercent }) => asRatio(busbwPercent),
  ],
  [
    'bound_ratio',
    'Best possible time over the measured time.',
    ({ ofBoundPercent }) => asRatio(ofBoundPercent),
  ],
  [
    'messages_per_second',
    'Messages per second.',
    ({ mops }) => (mops === undefined ? undefined : Math.round(mops * 1e6)),
  ],
  [
    'wrong_bytes',
    'Bytes that arrived wrong.',
    ({ checked }) => (checked.bytes === 0 ? undefined : checked.wrong),
  ],
];

const passedOf = ({ outcome }: Row): number | undefined =>
  outcome === 'skipped' ? undefined : outcome === 'passed' ? 1 : 0;

/** A benchmark that did not get as far as a run: who reads the metrics must not take the last run for this one. */
export const formatNoRun = (benchmark: string, at: Date): string =>
  expositionText([
    {
      name: 'weft_run_passed',
      help: '1 if every row of the run passed, else 0.',
      samples: [{ labels: { benchmark }, value: 0 }],
    },
    {
      name: 'weft_run_timestamp_seconds',
      help: 'When the run ended.',
      samples: [{ labels: { benchmark }, value: inUnixSeconds(at) }],
    },
  ]);

export const formatHistoryMetrics = ({ trends }: History): string =>
  expositionText(
    historyFamilies.map(([name, help, value]) => ({
      name: `weft_history_${name}`,
      help,
      samples: trends.map((trend) => ({
        labels: rowLabels(trend.series.place, trend.series.row),
        value: value(trend),
      })),
    })),
  );

const latestOf = ({ series }: Trend) => series.failed ?? series.runs.at(-1);
const firstAfterChange = ({ series, changes }: Trend) => series.runs[changes.at(-1)?.index ?? -1];
const startOf = (run: { readonly startedAt: string } | undefined) =>
  run && inUnixSeconds(run.startedAt);

const historyFamilies: readonly (readonly [
  string,
  string,
  (trend: Trend) => number | null | undefined,
])[] = [
  ['runs', 'Runs that measured the row.', ({ series }) => series.runs.length],
  [
    'latest_seconds',
    'Median time of the row in its latest run.',
    ({ series }) => inSeconds(series.nanoseconds.at(-1)),
  ],
  [
    'latest_timestamp_seconds',
    'When the latest run of the row started.',
    (trend) => startOf(latestOf(trend)),
  ],
  [
    'latest_passed',
    '1 if the row passed in its latest run, else 0.',
    ({ series }) => (series.failed ? 0 : 1),
  ],
  [
    'usual_seconds',
    'Median time since the last change.',
    ({ usualNanoseconds }) => inSeconds(usualNanoseconds),
  ],
  [
    'usual_bytes_per_second',
    'Median bandwidth since the last change.',
    (trend) => inBytesPerSecond(usualGbps(trend)),
  ],
  ['changes', 'Lasting changes found.', ({ changes }) => changes.length],
  [
    'change_ratio',
    'Time after the last change over time before it.',
    ({ changes }) => ratio(changes.at(-1)?.factor),
  ],
  [
    'change_timestamp_seconds',
    'When the first run after the last change started.',
    (trend) => startOf(firstAfterChange(trend)),
  ],
  [
    'outlier_ratio',
    'Latest time over the usual one, if that is unusual.',
    ({ outlier }) => ratio(outlier),
  ],
];

const ratio = (value: number | null | undefined): number | undefined =>
  value == null ? undefined : Number(value.toPrecision(6));
