import type { History, Trend } from '../../analysis/history/history.js';
import type { Place } from '../../analysis/history/series.js';
import { usualGbps } from '../../analysis/history/words.js';
import { fabricName } from '../fabric-name.js';
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

const placeOf = ({ benchmark, world, fabric }: Run): Place => ({
  ...{ benchmark, ranks: world.ranks, hosts: world.hosts.length },
  provider: fabricName(fabric),
});

const rowLabels = ({ benchmark, ranks, hosts, provider }: Place, row: RowSubject) => {
  const { from, to, rail, producer, grid, block } = row.labels;
  return {
    ...{ benchmark, ranks, hosts, provider, column: row.column, size_bytes: row.bytes },
    ...{ from, to, rail, producer, grid, block },
  };
};

/** Runs of benchmarks; of two runs of the same thing the later counts. */
export function formatRunMetrics(runs: readonly Run[]): string {
  const rows = runs.flatMap((run) => {
    const place = placeOf(run);
    return mergeRepeats(run).rows.map((row) => ({ labels: rowLabels(place, row), row }));
  });
  const ofRuns = (name: string, help: string, value: (run: Run) => number | undefined): Family => ({
    name: `weft_run_${name}`,
    help,
    samples: runs.map((run) => ({ labels: { ...placeOf(run) }, value: value(run) })),
  });
  const ofRows = (name: string, help: string, value: (row: Row) => number | undefined): Family => ({
    name: `weft_row_${name}`,
    help,
    samples: rows.map(({ labels, row }) => ({ labels, value: value(row) })),
  });
  const time = (name: 'min' | 'mean' | 'p50' | 'p95' | 'p99' | 'max') =>
    rows.map(({ labels, row }) => ({
      labels: { ...labels, statistic: name },
      value: inSeconds(row.nanoseconds?.[name]),
    }));
  return expositionText([
    ofRuns('passed', '1 if every row of the run passed, else 0.', ({ outcome }) =>
      outcome === 'passed' ? 1 : 0,
    ),
    ofRuns('timestamp_seconds', 'When the run ended.', ({ endedAt, startedAt }) =>
      inUnixSeconds(endedAt ?? startedAt),
    ),
    ofRuns('emulated', '1 if any measured device was emulated.', ({ fabric }) =>
      fabric.emulated ? 1 : undefined,
    ),
    ofRows('passed', '1 if the row passed, 0 if it failed; absent if it was skipped.', passedOf),
    {
      name: 'weft_row_time_seconds',
      help: 'Time of one iteration.',
      samples: (['min', 'mean', 'p50', 'p95', 'p99', 'max'] as const).flatMap(time),
    },
    ofRows('bandwidth_bytes_per_second', 'Bytes per peer over the mean time.', ({ gbps }) =>
      inBytesPerSecond(gbps),
    ),
    ofRows('line_bytes_per_second', 'Bytes that one rank put on the wire per second.', (row) =>
      inBytesPerSecond(row.lineGbps),
    ),
    ofRows('busbw_ratio', 'Bandwidth over the line rate of the channels used.', (row) =>
      asRatio(row.busbwPercent),
    ),
    ofRows('bound_ratio', 'Best possible time over the measured time.', (row) =>
      asRatio(row.ofBoundPercent),
    ),
    ofRows('messages_per_second', 'Messages per second.', ({ mops }) =>
      mops === undefined ? undefined : Math.round(mops * 1e6),
    ),
    ofRows('wrong_bytes', 'Bytes that arrived wrong.', ({ checked }) =>
      checked.bytes === 0 ? undefined : checked.wrong,
    ),
  ]);
}

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

export function formatHistoryMetrics({ trends }: History): string {
  const family = (
    name: string,
    help: string,
    value: (trend: Trend) => number | null | undefined,
  ): Family => ({
    name: `weft_history_${name}`,
    help,
    samples: trends.map((trend) => ({
      labels: rowLabels(trend.series.place, trend.series.row),
      value: value(trend),
    })),
  });
  const lastChange = ({ changes }: Trend) => changes.at(-1);
  return expositionText([
    family('runs', 'Runs that measured the row.', ({ series }) => series.runs.length),
    family('latest_seconds', 'Median time of the row in its latest run.', ({ series }) =>
      inSeconds(series.nanoseconds.at(-1)),
    ),
    family('latest_timestamp_seconds', 'When the latest run of the row started.', ({ series }) => {
      const run = series.failed ?? series.runs.at(-1);
      return run && inUnixSeconds(run.startedAt);
    }),
    family('latest_passed', '1 if the row passed in its latest run, else 0.', ({ series }) =>
      series.failed ? 0 : 1,
    ),
    family('usual_seconds', 'Median time since the last change.', (trend) =>
      inSeconds(trend.usualNanoseconds),
    ),
    family('usual_bytes_per_second', 'Median bandwidth since the last change.', (trend) =>
      inBytesPerSecond(usualGbps(trend)),
    ),
    family('changes', 'Lasting changes found.', ({ changes }) => changes.length),
    family('change_ratio', 'Time after the last change over time before it.', (trend) =>
      ratio(lastChange(trend)?.factor),
    ),
    family(
      'change_timestamp_seconds',
      'When the first run after the last change started.',
      (trend) => {
        const change = lastChange(trend);
        return change && inUnixSeconds(trend.series.runs[change.index]!.startedAt);
      },
    ),
    family('outlier_ratio', 'Latest time over the usual one, if that is unusual.', ({ outlier }) =>
      ratio(outlier),
    ),
  ]);
}

const ratio = (value: number | null | undefined): number | undefined =>
  value == null ? undefined : Number(value.toPrecision(6));
