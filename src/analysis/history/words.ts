import { median } from '../../measure/quantile.js';
import { formatNanoseconds, plural } from '../../measure/units.js';
import { nameOfRow } from '../../results/row-name.js';
import type { History, HistoryEvent, Trend } from './history.js';
import type { Place } from './series.js';

/** `write, 4 ranks on 2 hosts, tcp`. */
export function nameOfPlace({ benchmark, ranks, hosts, provider }: Place): string {
  const world = `${plural(ranks, 'rank')} on ${plural(hosts, 'host')}`;
  return [benchmark, world, ...(provider === null ? [] : [provider])].join(', ');
}

/** `2.0× slower`; `1.25× faster`. */
export function speedText(factor: number): string {
  const times = factor > 1 ? factor : 1 / factor;
  const digits = times < 1.995 ? 2 : times < 99.5 ? 1 : 0;
  return `${times.toFixed(digits)}× ${factor > 1 ? 'slower' : 'faster'}`;
}

/** In UTC, as run files and their names have it. */
export const dayOf = (iso: string): string => iso.slice(0, 10);
export const minuteOf = (iso: string): string => `${dayOf(iso)} ${iso.slice(11, 16)}`;

/** The rate where there is one, else the time. */
export function figureText(nanoseconds: number, gbps: number | null): string {
  return gbps === null ? formatNanoseconds(nanoseconds) : `${gbps.toPrecision(4)} Gbps`;
}

export function latestText({ series }: Trend): string {
  if (series.failed !== undefined) return 'failed';
  return figureText(series.nanoseconds.at(-1)!, series.gbps.at(-1)!);
}

export function usualText(trend: Trend): string {
  const { usualNanoseconds } = trend;
  if (usualNanoseconds === null) return '-';
  return figureText(usualNanoseconds, usualGbps(trend));
}

export function usualGbps({ series, changes }: Trend): number | null {
  const rates = series.gbps.slice(changes.at(-1)?.index ?? 0).filter((rate) => rate !== null);
  return rates.length === 0 ? null : median(rates);
}

/** What a reader should know of a row at a glance; empty where nothing happened. `brief` for a narrow column. */
export function remarkOf({ series, changes, outlier, tooFew }: Trend, brief = false): string {
  if (outlier !== null) return `latest run ${speedText(outlier)}`;
  const last = changes.at(-1);
  if (last === undefined) return tooFew ? 'too few runs' : '';
  const more = changes.length > 1 ? ` (last of ${changes.length}${brief ? '' : ' changes'})` : '';
  return `${speedText(last.factor)} on ${dayOf(series.runs[last.index]!.startedAt)}${more}`;
}

/** Speed over time in so many steps, each between 0 and 1; a range below a fifth is not stretched. */
export function trendSteps(nanoseconds: readonly number[], most: number): number[] {
  const count = Math.min(most, nanoseconds.length);
  const speeds = Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * nanoseconds.length) / count);
    return 1 / median(nanoseconds.slice(from, Math.floor(((i + 1) * nanoseconds.length) / count)));
  });
  const [low, high] = [Math.min(...speeds), Math.max(...speeds)];
  const range = Math.max(high - low, 0.2 * high);
  const lowest = (low + high - range) / 2;
  return speeds.map((speed) => Number(((speed - lowest) / range).toFixed(3)));
}

/** `12 rows became 2.0× slower`, `MultiPin 16M became 1.30× faster`. */
export function eventText({ rows, factor }: HistoryEvent): string {
  const [only] = rows;
  const who = rows.length === 1 ? nameOfRow(only!.trend.series.row) : plural(rows.length, 'row');
  return `${who} became ${speedText(factor)}`;
}

export const changedText = ({ changed }: HistoryEvent): string =>
  changed.length === 0
    ? 'the run files show no other change'
    : `also changed: ${changed.map(({ what, from, to }) => `${what} ${shortened(from)} → ${shortened(to)}`).join('; ')}`;

const longest = 60;
const shortened = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;

/** The answer in one line. */
export function answerOf({ runs, trends, events }: History): string {
  const counted = `${plural(trends.length, 'row')} in ${plural(runs, 'run')}`;
  const outliers = trends.filter(({ outlier }) => outlier !== null && outlier > 1).length;
  const failed = trends.filter(({ series }) => series.failed !== undefined).length;
  const [last] = events;
  const parts = [
    last === undefined
      ? 'no lasting change'
      : `${plural(events.length, 'change')}, the latest on ${dayOf(last.after.startedAt)}: ${last.place.benchmark}, ${eventText(last)}`,
    ...(outliers > 0 ? [`the latest run of ${plural(outliers, 'row')} is unusually slow`] : []),
    ...(failed > 0
      ? [`${plural(failed, 'row')} failed in ${failed === 1 ? 'its' : 'their'} latest run`]
      : []),
  ];
  return `${counted}: ${parts.join('; ')}`;
}
