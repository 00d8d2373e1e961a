import type { History, HistoryEvent, Trend } from '../../analysis/history/history.js';
import type { Place } from '../../analysis/history/series.js';
import {
  answerOf,
  changedText,
  eventText,
  latestText,
  minuteOf,
  nameOfPlace,
  remarkOf,
  trendSteps,
  usualGbps,
  usualText,
} from '../../analysis/history/words.js';
import { groupBy } from '../../measure/group.js';
import { plural } from '../../measure/units.js';
import { nameOfRow } from '../row-name.js';
import { sparkline } from './bars.js';
import { type CsvValue, csvText } from './csv.js';
import { alignedTable, escapedMarkdown, markdownTable, type PlainTable } from './plain-table.js';
import { painter, wrap } from './text.js';

export const historyFormats = ['table', 'markdown', 'csv', 'json'] as const;
export type HistoryFormat = (typeof historyFormats)[number];

interface Look {
  readonly color?: boolean;
  readonly unicode?: boolean;
  readonly width?: number;
  /** Every row and every change. */
  readonly all?: boolean;
}

export function formatHistory(history: History, format: HistoryFormat, look: Look = {}): string {
  if (format === 'json') return `${JSON.stringify(historyJson(history), null, 2)}\n`;
  if (format === 'csv') return formatHistoryCsv(history);
  return format === 'markdown' ? asMarkdown(history, look) : asTable(history, look);
}

/** More rows or changes than these are only counted, unless all are asked for. */
const mostRows = 60;
const mostEvents = 10;
const trendWidth = 16;
const widest = 100;

function asTable(
  history: History,
  { color = false, unicode = true, width = widest, all = false }: Look,
): string {
  const paint = painter(color);
  const places = [...groupBy(history.trends, ({ series }) => series.place)];
  const tables = places.flatMap(([place, trends]) => {
    const shown = all ? trends : shownTrends(trends);
    const [head = '', ...lines] = alignedTable(tableOf(shown, unicode));
    const painted = lines.map((line, i) => (isWorse(shown[i]!) ? paint('red', line) : line));
    return [paint('bold', nameOfPlace(place)), head, ...painted, ...hidden(trends, shown), ''];
  });
  const events = shownEvents(history, all).flatMap((event) => {
    const [first, ...more] = eventLines(event);
    const ink = event.factor > 1 ? 'red' : 'bold';
    return [
      paint(ink, first!),
      ...more.flatMap((text) => wrap(text, Math.min(width, widest) - 2).map((line) => `  ${line}`)),
    ];
  });
  return `${[paint('bold', answerOf(history)), '', ...tables, ...events, ...moreEvents(history, all)].join('\n').trimEnd()}\n`;
}

function asMarkdown(history: History, { all = false }: Look): string {
  const places = [...groupBy(history.trends, ({ series }) => series.place)];
  const tables = places.flatMap(([place, trends]) => {
    const shown = all ? trends : shownTrends(trends);
    const { heads, lines, left = [] } = tableOf(shown, true);
    const cells = lines.map((line) => line.map(escapedMarkdown));
    const table = shown.length === 0 ? [] : markdownTable({ heads, lines: cells, left });
    return [
      `### ${escapedMarkdown(nameOfPlace(place))}`,
      '',
      ...table,
      ...hidden(trends, shown),
      '',
    ];
  });
  const events = shownEvents(history, all).map(
    (event) => `- ${eventLines(event).map(escapedMarkdown).join('; ')}`,
  );
  return `${[`**${escapedMarkdown(answerOf(history))}**`, '', ...tables, ...events, ...moreEvents(history, all)].join('\n').trimEnd()}\n`;
}

export const isWorse = ({ outlier, changes, series }: Trend): boolean =>
  series.failed !== undefined || (outlier ?? changes.at(-1)?.factor ?? 1) > 1;

/** Of very many rows those that something happened to. */
export function shownTrends(trends: readonly Trend[]): readonly Trend[] {
  if (trends.length <= mostRows) return trends;
  return trends.filter(
    ({ changes, outlier, series }) => changes.length > 0 || outlier !== null || series.failed,
  );
}

function hidden(trends: readonly Trend[], shown: readonly Trend[]): string[] {
  const count = trends.length - shown.length;
  return count === 0 ? [] : [`${plural(count, 'row')} without a change; --all shows them`];
}

const shownEvents = ({ events }: History, all: boolean): readonly HistoryEvent[] =>
  all ? events : events.slice(0, mostEvents);

function moreEvents({ events }: History, all: boolean): string[] {
  const count = events.length - shownEvents({ events } as History, all).length;
  return count === 0 ? [] : [`${plural(count, 'earlier change')}; --all shows them`];
}

function eventLines(event: HistoryEvent): string[] {
  const { place, rows, before, after } = event;
  const names = rows.map(({ trend }) => nameOfRow(trend.series.row));
  const some = names.length > 6 ? [...names.slice(0, 6), '…'] : names;
  return [
    `${minuteOf(after.startedAt)} UTC  ${nameOfPlace(place)}: ${eventText(event)}`,
    ...(rows.length > 1 ? [some.join(', ')] : []),
    changedText(event),
    `first run after it: ${after.id}; last run before it: ${before.id}`,
  ];
}

function tableOf(trends: readonly Trend[], unicode: boolean): PlainTable {
  return {
    heads: ['Row', 'Runs', 'Latest', 'Usual', 'Trend', 'Last change (UTC)'],
    left: [0, 4, 5],
    lines: trends.map((trend) => [
      nameOfRow(trend.series.row),
      String(trend.series.runs.length),
      latestText(trend),
      usualText(trend),
      sparkline(trendSteps(trend.series.nanoseconds, trendWidth), unicode, 1),
      remarkOf(trend, true),
    ]),
  };
}

const placeJson = ({ benchmark, ranks, hosts, provider }: Place) => ({
  ...{ benchmark, ranks, hosts, provider },
});

/** Without the single points: CSV has those. */
export function historyJson({ runs, tolerance, trends, events }: History) {
  const changesOf = ({ series, changes }: Trend) =>
    changes.map(({ index, factor }) => ({
      at: series.runs[index]!.startedAt,
      before: series.runs[index - 1]!.id,
      after: series.runs[index]!.id,
      factor,
    }));
  return {
    schema: 'weft.history/1',
    runs,
    tolerance,
    rows: trends.map((trend) => {
      const { series, outlier, tooFew, usualNanoseconds } = trend;
      return {
        ...placeJson(series.place),
        ...series.row,
        runs: series.runs.length,
        latest: {
          run: (series.failed ?? series.runs.at(-1)!).id,
          at: (series.failed ?? series.runs.at(-1)!).startedAt,
          nanoseconds: series.failed ? null : series.nanoseconds.at(-1)!,
          gbps: series.failed ? null : series.gbps.at(-1)!,
        },
        usual: { nanoseconds: usualNanoseconds, gbps: usualGbps(trend) },
        outlier,
        tooFew,
        changes: changesOf(trend),
      };
    }),
    events: events.map(({ place, before, after, factor, rows, changed }) => ({
      at: after.startedAt,
      ...placeJson(place),
      before: before.id,
      after: after.id,
      factor,
      rows: rows.map(({ trend, factor: own }) => ({ ...trend.series.row, factor: own })),
      changed,
    })),
  };
}

interface Point {
  readonly trend: Trend;
  readonly index: number;
}

const level = ({ trend, index }: Point): number =>
  trend.changes.filter((change) => change.index <= index).length;

/** Named as in the CSV of a run where they are the same. */
const fields: Record<string, (point: Point) => CsvValue> = {
  started_at: ({ trend, index }) => trend.series.runs[index]!.startedAt,
  run: ({ trend, index }) => trend.series.runs[index]!.id,
  benchmark: ({ trend }) => trend.series.place.benchmark,
  nodes: ({ trend }) => trend.series.place.hosts,
  ranks: ({ trend }) => trend.series.place.ranks,
  provider: ({ trend }) => trend.series.place.provider,
  kind: ({ trend }) => trend.series.row.kind,
  config: ({ trend }) => trend.series.row.column,
  size_bytes: ({ trend }) => trend.series.row.bytes,
  from: ({ trend }) => trend.series.row.labels.from,
  to: ({ trend }) => trend.series.row.labels.to,
  rail: ({ trend }) => trend.series.row.labels.rail,
  producer: ({ trend }) => trend.series.row.labels.producer,
  grid: ({ trend }) => trend.series.row.labels.grid,
  block: ({ trend }) => trend.series.row.labels.block,
  gbps: ({ trend, index }) => trend.series.gbps[index],
  p50_us: ({ trend, index }) => Number((trend.series.nanoseconds[index]! / 1000).toFixed(4)),
  level,
  change_factor: ({ trend, index }) =>
    trend.changes.find((change) => change.index === index)?.factor,
};

/** A line for each row of each run; `level` counts the changes so far. */
function formatHistoryCsv({ trends }: History): string {
  const each = Object.values(fields);
  const lines = trends.flatMap((trend) =>
    trend.series.runs.map((_, index) => each.map((field) => field({ trend, index }))),
  );
  return csvText([Object.keys(fields), ...lines]);
}
