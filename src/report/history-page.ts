import type { History, HistoryEvent, Trend } from '../analysis/history/history.js';
import {
  answerOf,
  changedText,
  eventText,
  latestText,
  minuteOf,
  nameOfPlace,
  remarkOf,
  trendSteps,
  usualText,
} from '../analysis/history/words.js';
import { groupBy } from '../measure/group.js';
import { isWorse, shownTrends } from '../results/formats/history.js';
import { rowKey } from '../results/row-key.js';
import { nameOfRow } from '../results/row-name.js';
import { historyCharts } from './charts/history.js';
import { escapeMarkup } from './escape.js';
import type { EventParts, HistoryParts, RowParts } from './history-parts.js';
import { figureHtml, htmlPage } from './html-page.js';
import { htmlTable } from './html-table.js';

export function historyParts(history: History, points = 40): HistoryParts {
  const places = [...groupBy(history.trends, ({ series }) => series.place)];
  return {
    answer: answerOf(history),
    places: places.map(([place, trends]) => ({
      name: nameOfPlace(place),
      rows: shownTrends(trends).map((trend) => partsOfRow(trend, points)),
      hidden: trends.length - shownTrends(trends).length,
    })),
    events: history.events.map(partsOfEvent),
  };
}

/** Names a row of a history in addresses. */
export const idOfTrend = ({ series }: Trend): string =>
  `${nameOfPlace(series.place)} ${rowKey(series.row)}`;

const partsOfRow = (trend: Trend, points: number): RowParts => ({
  id: idOfTrend(trend),
  name: nameOfRow(trend.series.row),
  runs: trend.series.runs.length,
  latest: latestText(trend),
  usual: usualText(trend),
  trend: trendSteps(trend.series.nanoseconds, points),
  remark: remarkOf(trend),
  worse: isWorse(trend),
});

const partsOfEvent = (event: HistoryEvent): EventParts => ({
  at: minuteOf(event.after.startedAt),
  place: nameOfPlace(event.place),
  text: eventText(event),
  changed: changedText(event),
  rows: event.rows.map(({ trend }) => nameOfRow(trend.series.row)),
  worse: event.factor > 1,
  files: [event.before.file, event.after.file],
});

/** A history as a page of its own. */
export function renderHistory(history: History): string {
  const { answer, places, events } = historyParts(history);
  const charts = historyCharts(history);
  const changes = events.map(
    ({ at, place, text, changed, worse }) =>
      `<li${worse ? ' class="bad"' : ''}>${escapeMarkup(`${at} UTC, ${place}: ${text}; ${changed}`)}</li>`,
  );
  const tables = places.map(({ name, rows }) =>
    htmlTable({
      caption: name,
      heads: [
        [
          ...['Row', 'Runs', 'Latest', 'Usual'].map((text) => ({ text })),
          { text: 'Last change (UTC)', classes: 'text' },
        ],
      ],
      rows: rows.map((row) => [
        { text: row.name },
        { text: String(row.runs) },
        { text: row.latest },
        { text: row.usual },
        { text: row.remark, classes: row.worse ? 'text failed' : 'text' },
      ]),
    }),
  );
  return htmlPage({
    title: 'Weft: history',
    brand: 'history',
    body: [
      `<section class="answer" aria-label="The answer"><h1>${escapeMarkup(answer)}</h1>`,
      `<ul class="points">${changes.join('\n')}</ul></section>`,
      `<section aria-label="Charts"><div class="charts">${charts.map((chart) => figureHtml(chart, false)).join('\n')}</div></section>`,
      ...tables.map((table) => `<section><div class="card">${table}</div></section>`),
    ],
    footer: 'Written by weft history.',
    charts,
  });
}
