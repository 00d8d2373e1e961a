import { largestOf, type Normal } from '../analysis/normal/normal.js';
import {
  modelNameOf,
  type NormalCells,
  normalCells,
  sourcesOf,
} from '../results/formats/normal.js';
import { escapeMarkup } from './escape.js';
import { htmlTable } from './html-table.js';

/** The largest size of each column beside what is known of it, then every row; or a sentence that nothing is. */
export function normalHtml(normal: Normal): string {
  const { rows, notes } = normal;
  const largest = largestOf(rows);
  const points = [...sourcesOf(rows.map(normalCells)), ...notes].map(
    (text) => `<li>${escapeMarkup(text)}</li>`,
  );
  if (rows.length === 0) return notes.map((text) => `<p>${escapeMarkup(text)}</p>`).join('\n');
  const all =
    rows.length > largest.length
      ? `<details><summary>Every row (${rows.length})</summary>${tableOf(normal, rows)}</details>`
      : '';
  return [
    `<p>${escapeMarkup(introOf(normal))}</p>`,
    tableOf(normal, largest),
    all,
    `<ul class="points">${points.join('')}</ul>`,
  ].join('\n');
}

function introOf({ machine, rows }: Normal): string {
  const where = machine === null ? '' : ` on ${machine}`;
  const size = 'The largest size of each column';
  const percent = 'Percentages are the speed of this run in terms of that figure';
  const model = rows.some((row) => row.model)
    ? ' The model’s figures are predicted for exactly these ranks, NICs and sizes; its range holds 95 %.'
    : '';
  return `${size}${where}. ${percent}.${model}`;
}

function tableOf(normal: Normal, rows: Normal['rows']): string {
  const model = modelNameOf(normal);
  const cells = rows.map(normalCells);
  const differs = ({ figure }: NormalCells) => figure?.differs.join('; ') ?? '';
  const columns: readonly (readonly [string, (one: NormalCells) => string, 'text'?])[] = [
    ['Row', ({ name }) => name, 'text'],
    ['This run', ({ here }) => here],
    ['Published', ({ published }) => published],
    ...(model ? ([[`Model ${model}, predicted`, (one: NormalCells) => one.model]] as const) : []),
    ...(cells.some(differs) ? ([['Not compared, because', differs, 'text']] as const) : []),
  ];
  return htmlTable({
    caption: 'This run beside published figures and the model',
    heads: [columns.map(([text, , classes = '']) => ({ text, classes }))],
    rows: cells.map((one) => columns.map(([, of, classes = '']) => ({ text: of(one), classes }))),
  });
}
