import { plural, sizeText } from '../../measure/units.js';
import { answerOf, diagnosed } from '../../report/answer.js';
import { conclusionOf } from '../../report/findings.js';
import { describeRun } from '../../results/formats/notes.js';
import { blockOf, isLarge, slowestRows } from '../../results/large-matrix.js';
import { mergeRepeats } from '../../results/repeats.js';
import type { Row, Run } from '../../results/schema.js';
import { ChartsView } from './charts-view.js';
import { element, setAttributes, setText, show } from './dom.js';
import { RowsTable } from './rows-table.js';
import { followRun, type LiveRun } from './run-stream.js';
import { dateText, none, rateText } from './words.js';

/** One run: what it is, how it stands, its rows, its charts, what must be said about it. */
export function showRun(key: string): void {
  const title = element('h1', {}, key);
  const state = element('span', { class: 'state' });
  const facts = element('p', { class: 'subject' });
  const standing = element('p', { class: 'standing' });
  const news = element('p', { class: 'hidden', 'aria-live': 'polite' });
  const table = new RowsTable('Rows');
  const charts = new ChartsView();
  const notes = element('section', { 'aria-label': 'Notes' });
  const head = element('div', { class: 'title' }, title, state);
  const [rowsHead, chartsHead] = ['Rows', 'Charts'].map((text) => element('h2', {}, text));
  show(head, facts, standing, news, rowsHead!, table.root, chartsHead!, charts.root, notes);
  let epoch = 0;
  followRun(key, (live) => {
    if (live.epoch !== epoch) {
      ({ epoch } = live);
      table.clear();
      charts.clear();
    }
    setText(state, live.state);
    setAttributes(state, { 'data-state': live.state });
    if (live.problem !== undefined) setText(standing, live.problem);
    const { run } = live;
    if (run === undefined) return;
    document.title = `${run.benchmark} ${live.state} · Weft`;
    setText(title, run.benchmark);
    setText(facts, `${describeRun(run)} · ${dateText(run.startedAt)}`);
    setText(standing, standingOf(run, live));
    setText(news, newsOf(run, live));
    if (isLarge(run.world)) table.replace(slowestRows(run));
    else table.set(run.rows.filter(hasLine));
    charts.set([run]);
    if (live.state === 'running') notes.replaceChildren();
    else showNotes(notes, run);
  });
}

/** Whole columns that were skipped are told in the notes. */
const hasLine = (row: Row): boolean => row.bytes !== null || row.outcome !== 'skipped';

/** What there is so far, then what it says. */
function standingOf(run: Run, { state, problem, rows }: LiveRun): string {
  if (isLarge(run.world)) return largeStanding(run, { state, problem, rows });
  const count = plural(run.rows.filter(hasLine).length, 'row');
  const whole = mergeRepeats(run);
  if (state === 'running') {
    const found = run.rows.some((row) => row.outcome === 'passed');
    // While it runs, not to have finished is no finding.
    const headline = found ? answerOf([{ ...whole, outcome: 'passed' }]).headline : '';
    return `${count} so far. ${headline}`;
  }
  return [problem && `${problem}.`, answerOf([whole]).headline, `${count}.`]
    .filter(Boolean)
    .join(' ');
}

/** Of a large matrix the page has the slowest pairs only, and says nothing about all. */
function largeStanding(
  { world, diagnosis }: Run,
  { state, problem, rows }: Pick<LiveRun, 'state' | 'problem' | 'rows'>,
): string {
  const block = blockOf(world);
  return [
    problem && `${problem}.`,
    diagnosis && conclusionOf(diagnosis),
    `${plural(rows, 'row')}${state === 'running' ? ' so far' : ''}.`,
    `${world.ranks} ranks are too many to show every pair: this page shows the slowest pair of each block of ${block} × ${block} ranks. weft report reads every pair.`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** For those who listen: the last row, and the end. */
function newsOf(run: Run, { state }: LiveRun): string {
  const row = run.rows.at(-1);
  if (state !== 'running') return `The run has ended: ${state}.`;
  if (row === undefined) return 'The run has started.';
  const size = row.bytes === null ? '' : ` ${sizeText(row.bytes)}`;
  const rate = rateText(row);
  return `${row.column}${size}: ${rate === none ? row.outcome : rate}`;
}

function showNotes(place: HTMLElement, run: Run): void {
  // What is said of all rows needs all rows.
  const points = isLarge(run.world) ? diagnosed(run) : answerOf([mergeRepeats(run)]).points;
  const items = points.map(({ kind, text }) => element('li', { class: kind }, text));
  place.replaceChildren(element('h2', {}, 'Notes'), element('ul', { class: 'points' }, ...items));
}
