import { plural } from '../../measure/units.js';
import type { Chart } from '../../report/chart.js';
import type { HistoryAnswer } from '../wire.js';
import { ChartsView } from './charts-view.js';
import { element, setText, show, tableBox } from './dom.js';
import { spark } from './spark.js';
import { runAddress } from './words.js';

const heads = ['Row', 'Runs', 'Latest', 'Usual', 'Trend', 'Last change (UTC)'];
type Place = HistoryAnswer['places'][number];

/** How every row developed: what changed and when, a table of rows, and the chart of any of them. */
export async function showHistory(): Promise<void> {
  document.title = 'History · Weft';
  const answer = element('p', { class: 'lead', role: 'status' }, 'Reading the runs …');
  const rest = element('div');
  show(element('div', { class: 'title' }, element('h1', {}, 'History')), answer, rest);
  const history = await fetched<HistoryAnswer>('/api/history');
  if (typeof history === 'string') {
    setText(answer, history);
    return;
  }
  setText(answer, history.answer);
  const charts = new ChartsView();
  const chosen = element('h2', { tabindex: '-1' }, 'Charts');
  const choose = async (id: string) => {
    const chart = await fetched<Chart>(`/api/history/row?${new URLSearchParams({ id })}`);
    if (typeof chart === 'string') setText(answer, chart);
    else charts.put([chart, ...history.charts]);
    chosen.focus();
    chosen.scrollIntoView();
  };
  rest.append(
    ...changesOf(history),
    ...history.places.flatMap((place) => tableOf(place, choose)),
    chosen,
    charts.root,
  );
  charts.put(history.charts);
}

/** What went wrong on the way as a sentence. */
async function fetched<Answer>(address: string): Promise<Answer | string> {
  try {
    const response = await fetch(address);
    if (response.ok) return (await response.json()) as Answer;
    return `The server could not read the history: ${(await response.text()).trim()}`;
  } catch {
    return 'No history: the connection was lost. Reload the page.';
  }
}

const mostChanges = 20;

function changesOf({ events }: HistoryAnswer): HTMLElement[] {
  if (events.length === 0) return [];
  const items = events
    .slice(0, mostChanges)
    .map(({ at, place, text, changed, rows, worse, files }) => {
      const [before, after] = files.map((file) => runAddress(file.replace(/\.jsonl$/, '')));
      return element(
        'li',
        { class: worse ? 'bad' : 'good', title: rows.join(', ') },
        element('strong', {}, `${at} UTC, ${place}: ${text}`),
        element('br'),
        `${changed}. `,
        element('a', { href: before }, 'run before'),
        ', ',
        element('a', { href: after }, 'run after'),
      );
    });
  const more = events.length - items.length;
  const left =
    more > 0
      ? [
          element(
            'p',
            { class: 'hint' },
            `${plural(more, 'earlier change')} ${more === 1 ? 'is' : 'are'} not shown; weft history --all lists ${more === 1 ? 'it' : 'them'}`,
          ),
        ]
      : [];
  return [element('h2', {}, 'Changes'), element('ul', { class: 'points' }, ...items), ...left];
}

function tableOf({ name, rows, hidden }: Place, choose: (id: string) => void): HTMLElement[] {
  const textual = new Set([0, 4, 5]);
  const classOf = (i: number) => (textual.has(i) ? 'text' : undefined);
  const head = element(
    'tr',
    {},
    ...heads.map((text, i) => element('th', { scope: 'col', class: classOf(i) }, text)),
  );
  const body = element('tbody');
  for (const row of rows) {
    const open = element('button', { type: 'button', class: 'plain' }, row.name);
    open.addEventListener('click', () => choose(row.id));
    const cells = [
      open,
      String(row.runs),
      row.latest,
      row.usual,
      spark(row.trend, trendLabel(row)),
      row.remark,
    ];
    const line = element(
      'tr',
      { 'data-verdict': row.worse ? 'slower' : undefined },
      ...cells.map((cell, i) => element('td', { class: classOf(i) }, cell)),
    );
    body.append(line);
  }
  const note =
    hidden === 0
      ? []
      : [
          element(
            'p',
            { class: 'hint' },
            `${plural(hidden, 'row')} without a change ${hidden === 1 ? 'is' : 'are'} not shown.`,
          ),
        ];
  const table = tableBox(name, `Rows of ${name} over time`, head, body);
  table.classList.add('whole');
  return [element('h2', {}, name), table, ...note];
}

const trendLabel = ({ name, remark }: Place['rows'][number]): string =>
  `Trend of ${name}: ${remark === '' ? 'no change' : remark}`;
