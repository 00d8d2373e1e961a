import { answerOf } from '../../report/answer.js';
import { type ComparedRow, comparisonOf } from '../../report/comparison.js';
import { bytesText } from '../../report/hydrate.js';
import { describeRun } from '../../results/formats/notes.js';
import type { Run } from '../../results/schema.js';
import { ChartsView } from './charts-view.js';
import { element, setText, show } from './dom.js';
import { followRun, type LiveRun } from './run-stream.js';
import { dateText, gbps, micros, runAddress, stateText } from './words.js';

const heads = ['Size', 'Column', 'A Gbps', 'B Gbps', 'A p50 µs', 'B p50 µs', 'B over A', 'Clear'];

/** Two runs: the finding, row by row, and in the same charts. Runs that are running are followed. */
export function showComparison(keys: readonly [string, string]): void {
  document.title = 'Comparison · Weft';
  const runs: (Run | undefined)[] = [undefined, undefined];
  const sides = keys.map((key, i) => sideOf(key, 'AB'[i]!));
  const finding = element('p', { class: 'standing', 'aria-live': 'polite' });
  const charts = new ChartsView();
  const body = element('tbody');
  show(
    element('div', { class: 'title' }, element('h1', {}, 'Comparison')),
    element('div', { class: 'sides' }, ...sides.map(({ root }) => root)),
    finding,
    element('h2', {}, 'Row by row'),
    tableOf(body),
    element('h2', {}, 'Charts'),
    charts.root,
  );
  keys.forEach((key, i) => {
    followRun(key, (live) => {
      sides[i]!.set(live);
      runs[i] = live.run;
      const [a, b] = runs;
      if (a === undefined || b === undefined) return;
      charts.set([a, b]);
      const comparable = a.benchmark === b.benchmark;
      setText(finding, comparable ? answerOf([a, b]).headline : differentText(a, b));
      body.replaceChildren(...(comparable ? comparisonOf([a, b]).rows.map(lineOf) : []));
    });
  });
}

const differentText = (a: Run, b: Run): string =>
  `These are different benchmarks, ${a.benchmark} and ${b.benchmark}: their rows say nothing about each other.`;

function tableOf(body: HTMLElement): HTMLElement {
  const cells = heads.map((text, i) =>
    element('th', { scope: 'col', class: i === 1 ? 'text' : undefined }, text),
  );
  const caption = element('caption', { class: 'hidden' }, 'Both runs, row by row');
  const table = element(
    'table',
    {},
    caption,
    element('thead', {}, element('tr', {}, ...cells)),
    body,
  );
  const label = { class: 'rows', tabindex: '0', role: 'region', 'aria-label': 'Row by row' };
  return element('div', label, table);
}

function sideOf(key: string, letter: string) {
  const facts = element('p', { class: 'subject' });
  const link = element('a', { href: runAddress(key) }, key);
  const root = element('div', { class: 'card' }, element('h2', {}, `${letter}: `, link), facts);
  const set = ({ run, state, problem }: LiveRun) => {
    if (run === undefined) {
      setText(facts, problem ?? '');
      return;
    }
    setText(link, run.benchmark);
    setText(facts, `${describeRun(run)} · ${dateText(run.startedAt)} · ${stateText[state]}`);
  };
  return { root, set };
}

/** Speed over speed; clear where the intervals of the means are apart. */
function lineOf({ bytes, column, rows: [a, b], ratios, clear }: ComparedRow): HTMLElement {
  const ratio = ratios[1];
  const texts = [
    bytesText(bytes),
    column,
    gbps(a?.gbps ?? null),
    gbps(b?.gbps ?? null),
    micros(a?.nanoseconds?.p50),
    micros(b?.nanoseconds?.p50),
    ratio === undefined ? '–' : `${ratio.toFixed(3)}×`,
    clear[1] ? (ratio! > 1 ? 'faster' : 'slower') : 'no',
  ];
  const cells = texts.map((text, i) =>
    element('td', { class: i === 1 ? 'text' : undefined }, text),
  );
  return element('tr', {}, ...cells);
}
