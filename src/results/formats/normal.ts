import {
  figureText,
  largestOf,
  type Normal,
  type PlacedModel,
  type PlacedRow,
  valueText,
} from '../../analysis/normal/normal.js';
import type { PlacedFigure } from '../../analysis/normal/published.js';
import { formatNanoseconds } from '../../measure/units.js';
import { wrap } from './text.js';

/** What stands in the cells of a table of placed rows. */
export interface NormalCells {
  readonly name: string;
  readonly here: string;
  readonly published: string;
  readonly model: string;
  /** The figure in `published`; its row may have more. */
  readonly figure: PlacedFigure | undefined;
}

/** The figure under the same conditions, else the one with the fewest that differ. */
const bestOf = ({ published }: PlacedRow): PlacedFigure | undefined =>
  published.toSorted((a, b) => a.differs.length - b.differs.length)[0];

export function normalCells(row: PlacedRow): NormalCells {
  const figure = bestOf(row);
  return {
    name: `${row.benchmark} ${row.name}`,
    here: hereText(row, figure),
    published: figure ? `${figureText(figure)}${share(figure.speed)}` : '-',
    model: row.model ? modelText(row, row.model) : '-',
    figure,
  };
}

/** Also in the unit of the published figure. */
function hereText({ gbps, nanoseconds }: PlacedRow, figure: PlacedFigure | undefined): string {
  const own = gbps === null ? formatNanoseconds(nanoseconds) : `${valueText(gbps)} Gbps`;
  if (figure?.measured === undefined || figure.quantity === 'gbps') return own;
  return `${own}, ${valueText(figure.measured)} ${figure.unit}`;
}

const share = (speed: number | undefined): string =>
  speed === undefined ? '' : ` (${(100 * speed).toFixed(0)} %)`;

function modelText({ gbps, nanoseconds }: PlacedRow, model: PlacedModel): string {
  const { interval, speed } = model;
  const [low, high] = interval;
  const where = nanoseconds > high ? ', slower' : nanoseconds < low ? ', faster' : '';
  if (gbps === null || model.gbps === null) {
    return `${formatNanoseconds(low)} to ${formatNanoseconds(high)} (${(100 * speed).toFixed(0)} %${where})`;
  }
  const rate = (time: number) => valueText((model.gbps! * model.nanoseconds) / time);
  return `${rate(high)} to ${rate(low)} Gbps (${(100 * speed).toFixed(0)} %${where})`;
}

/** Where the figures shown were published, and how they were measured, each once. */
export const sourcesOf = (cells: readonly NormalCells[]): string[] => [
  ...new Set(
    cells.flatMap(({ figure }) => {
      if (figure === undefined) return [];
      const { source, read, library, conditions } = figure;
      return [`Published: ${source}, as of ${read} (${library}). ${conditions}`];
    }),
  ),
];

/** What differs between a row and its figure, a sentence each. */
const differencesIn = (cells: readonly NormalCells[]): string[] =>
  cells.flatMap(({ figure, name }) =>
    (figure?.differs ?? []).map((clause) => `${name}: ${clause}.`),
  );

export const modelNameOf = ({ rows }: Pick<Normal, 'rows'>): string | undefined =>
  rows.find(({ model }) => model !== undefined)?.model?.name;

type Column = readonly [head: string, of: (cells: NormalCells) => string];

/** Lines below a verdict: the largest size of each column beside what is known, and where that comes from. */
export function normalLines(normal: Normal, width: number): string[] {
  const notes = normal.notes.flatMap((note) => wrap(note, width));
  if (normal.rows.length === 0) return notes;
  const cells = largestOf(normal.rows).map(normalCells);
  const model = modelNameOf(normal);
  const columns: Column[] = [
    [`what is normal${normal.machine === null ? '' : ` on ${normal.machine}`}`, ({ name }) => name],
    ['here', ({ here }) => here],
    ['published', ({ published }) => published],
    ...(model === undefined
      ? []
      : [[`model ${model}, predicted`, ({ model }: NormalCells) => model] as const]),
  ];
  const widths = columns.map(([head, of]) =>
    Math.max(head.length, ...cells.map((one) => of(one).length)),
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return [
    line(columns.map(([head]) => head)),
    ...cells.map((one) => line(columns.map(([, of]) => of(one)))),
    ...[...sourcesOf(cells), ...differencesIn(cells)].flatMap((text) => wrap(text, width)),
    ...notes,
  ];
}
