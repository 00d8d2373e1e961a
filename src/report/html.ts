import type { Normal } from '../analysis/normal/normal.js';
import { comparisonParts } from '../results/formats/comparison.js';
import { describeRun } from '../results/formats/notes.js';
import { isLarge } from '../results/large-matrix.js';
import { mergeRepeats } from '../results/repeats.js';
import type { Run } from '../results/schema.js';
import { type Answer, answerOf, type Point } from './answer.js';
import { type Chart, topics } from './chart.js';
import { chartsOf } from './charts.js';
import { type Against, comparisonsOf } from './comparison.js';
import { escapeMarkup } from './escape.js';
import { figureHtml, htmlPage } from './html-page.js';
import type { Models } from './lines.js';
import { machineOf, measuredText, modelFacts } from './measured.js';
import { normalHtml } from './normal-section.js';
import { pathTable } from './path-table.js';
import { cardsOf, type RunCard } from './run-cards.js';
import { settingsOf } from './settings.js';
import { comparisonTable, gridTable, rowTable } from './tables.js';

interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

/** More rows than this are folded away until asked for, or printed. */
const unfoldedRows = 60;

/** What a report places results beside. */
export interface Beside {
  /** Drawn in charts by size. */
  readonly models?: Models;
  readonly normal?: Normal;
}

/** One self-contained page about these runs, as they were read: it needs no network and runs no script but its own. */
export function renderReport(read: readonly Run[], { models, normal }: Beside = {}): string {
  const runs = read.map(mergeRepeats);
  const isPredicted = runs.every((run) => run.model);
  const charts = chartsOf(runs, models);
  // A model has no noise that a comparison could judge by.
  const compared = isPredicted ? [] : comparisonsOf(read);
  const answer = answerOf(runs, compared);
  const cards = runs.length > 1 ? cardsOf(runs, compared) : [];
  const sections = [
    ...chartSections(charts),
    ...(normal ? [{ id: 'normal', title: 'What is normal?', body: card(normalHtml(normal)) }] : []),
    ...comparisons(compared),
    tables(runs),
    howMeasured(runs),
    machines(runs),
  ];
  return htmlPage({
    title: titleOf(runs),
    brand: isPredicted ? predictedWords : 'report',
    body: [answerSection(answer, cards, runs, sections), ...sections.map(sectionHtml)],
    footer: `Written by Weft from ${runs.map((run) => run.id).join(', ')}.`,
    charts,
  });
}

const predictedWords = 'PREDICTED, not measured';

function titleOf(runs: readonly Run[]): string {
  const names = [...new Set(runs.map((run) => run.benchmark))].join(', ');
  return `Weft: ${names}${runs.every((run) => run.model) ? ` (${predictedWords})` : ''}`;
}

const sectionHtml = ({ id, title, body }: Section): string =>
  `<section id="${id}" aria-labelledby="${id}-title">\n<h2 id="${id}-title">${escapeMarkup(title)}</h2>\n${body}\n</section>`;

function answerSection(
  answer: Answer,
  cards: readonly RunCard[],
  runs: readonly Run[],
  sections: readonly Section[],
): string {
  const links = sections.map(
    ({ id, title }) => `<li><a href="#${id}">${escapeMarkup(title)}</a></li>`,
  );
  const about = runs.map((run) => `<p class="subject">${escapeMarkup(describeRun(run))}</p>`);
  return [
    '<section class="answer" aria-label="The answer">',
    `<h1>${escapeMarkup(answer.headline)}</h1>`,
    ...(answer.lead === '' ? [] : [`<p class="lead">${escapeMarkup(answer.lead)}</p>`]),
    ...(cards.length > 0
      ? [`<div class="run-cards">${cards.map(runCard).join('\n')}</div>`]
      : about),
    pointsHtml(answer.points),
    '<noscript><p>The charts need JavaScript; the tables below hold every number.</p></noscript>',
    `<nav aria-label="Sections"><ul>${links.join('')}</ul></nav>`,
    '</section>',
  ].join('\n');
}

const pointsHtml = (points: readonly Point[]): string => {
  const items = points.map(({ kind, text }) => `<li class="${kind}">${escapeMarkup(text)}</li>`);
  return items.length === 0 ? '' : `<ul class="points">${items.join('\n')}</ul>`;
};

const runCard = ({ title, finding, subject, state, points }: RunCard): string =>
  [
    `<article class="card run ${state}">`,
    `<h2>${escapeMarkup(title)}</h2>`,
    `<p class="finding">${escapeMarkup(finding)}</p>`,
    pointsHtml(points),
    `<p class="subject">${escapeMarkup(subject)}</p>`,
    '</article>',
  ].join('\n');

function chartSections(charts: readonly Chart[]): Section[] {
  const several = new Set(charts.map((chart) => chart.benchmark)).size > 1;
  return topics.flatMap(({ id, title, kinds }) => {
    const chosen = charts.filter((chart) => kinds.some((kind) => kind === chart.kind));
    if (chosen.length === 0) return [];
    const figures = chosen.map((chart) => figureHtml(chart, several));
    return [{ id, title, body: `<div class="charts">${figures.join('\n')}</div>` }];
  });
}

/** Each run against the first of its benchmark, as `weft compare` judges them. */
function comparisons(compared: readonly Against[]): Section[] {
  if (compared.length === 0) return [];
  const body = compared.map((against) => {
    const { summary, notes } = comparisonParts(against.comparison);
    const [a, b] = against.names;
    const points = notes.map((note) => `<li>${escapeMarkup(note)}</li>`).join('');
    const count = against.comparison.rows.length;
    return card(
      [
        `<h3>${escapeMarkup(`A is ${a}, B is ${b}`)}</h3>`,
        `<p>${escapeMarkup(summary)}.</p>`,
        folded(`Row by row (${count})`, count, comparisonTable(against)),
        `<ul class="points">${points}</ul>`,
      ].join('\n'),
    );
  });
  return [{ id: 'comparison', title: 'Comparison', body: body.join('\n') }];
}

const folded = (summary: string, rows: number, table: string): string =>
  `<details${rows <= unfoldedRows ? ' open' : ''}><summary>${summary}</summary>${table}</details>`;

const card = (body: string): string => `<div class="card">${body}</div>`;

function tables(runs: readonly Run[]): Section {
  const body = runs.map((run) => {
    if (run.rows.length === 0) return card(`<p>${escapeMarkup(run.id)} has no rows.</p>`);
    const { length } = run.rows;
    const path = pathTable(run);
    const nics =
      path && `<details><summary>Bytes per NIC against the plan</summary>${path}</details>`;
    const rows = isLarge(run.world)
      ? `The slowest pairs of each matrix (of ${length} rows; the run file has them all)`
      : `Every row (${length})`;
    return card(gridTable(run) + folded(rows, length, rowTable(run)) + nics);
  });
  return { id: 'tables', title: 'Tables', body: body.join('\n') };
}

function howMeasured(runs: readonly Run[]): Section {
  const paragraphs = measuredText(runs).map((text) => `<p>${escapeMarkup(text)}</p>`);
  const settings = runs.map((run) => {
    const name = runs.length > 1 ? `Settings of ${run.id}` : 'Settings';
    return `<details open><summary>${escapeMarkup(name)}</summary>${factsHtml(settingsOf(run))}</details>`;
  });
  return {
    id: 'measured',
    title: runs.every((run) => run.model) ? 'How it was predicted' : 'How it was measured',
    body: `<div class="card measured">${[...paragraphs, ...settings].join('\n')}</div>`,
  };
}

function machines(runs: readonly Run[]): Section {
  const [model] = runs.map((run) => run.model);
  if (model) return { id: 'machine', title: 'Model', body: card(factsHtml(modelFacts(model))) };
  const body = runs.map((run) =>
    card(`<h3>${escapeMarkup(run.id)}</h3>${factsHtml(machineOf(run))}`),
  );
  return { id: 'machine', title: 'Machine', body: body.join('\n') };
}

const factsHtml = (facts: readonly (readonly [string, string])[]): string =>
  `<dl>${facts.map(([name, value]) => `<dt>${escapeMarkup(name)}</dt><dd>${escapeMarkup(value)}</dd>`).join('')}</dl>`;
