import { placesOf } from '../../analysis/diagnosis/cells.js';
import { extentOf } from '../../measure/extent.js';
import { median, quantile } from '../../measure/quantile.js';
import { gbpsOf, microseconds } from '../../measure/units.js';
import { pairMetricOf } from '../column-name.js';
import { noValue } from '../row-figures.js';
import { isInMatrix } from '../row-kinds.js';
import type { Row, Run } from '../schema.js';
import type { Paint } from './text.js';

/** A matrix as it is shown: from down, to across. */
export interface Matrix {
  readonly title: string;
  readonly names: readonly string[];
  /** By from, then to; undefined on the diagonal and where a pair was not chosen. */
  readonly cells: readonly (readonly (MatrixCell | undefined)[])[];
}

interface MatrixCell {
  readonly text: string;
  /** Against the better quarter of the matrix: 1 is good, less is worse, in either metric. Absent where it failed. */
  readonly ratio?: number;
}

/** Three digits are what an eye takes in. */
const shortText = (value: number): string =>
  value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);

/**
 * As the diagnosis sees them: of the median sample, and against the better quarter, since one bad host of four makes
 * half of the cells bad. */
const figures = [
  {
    metric: 'bandwidth',
    title: 'Bandwidth, Gbps',
    value: ({ bytes, nanoseconds }: Row) =>
      nanoseconds === null || bytes === null ? undefined : gbpsOf(bytes, nanoseconds.p50),
    good: (values: readonly number[]) => quantile(values, 0.75),
    ratio: (value: number, good: number) => value / good,
  },
  {
    metric: 'latency',
    title: 'Latency (half round trip), us',
    value: ({ nanoseconds }: Row) =>
      nanoseconds === null ? undefined : microseconds(nanoseconds.p50 / 2),
    good: (values: readonly number[]) => quantile(values, 0.25),
    ratio: (value: number, good: number) => good / value,
  },
] as const;

/** The matrices of a run of `pairs`: bandwidth and latency, of each rail where rails were measured alone. */
export function matricesOf(run: Run): Matrix[] {
  const { hosts } = placesOf(run);
  const alone = new Set(hosts).size === hosts.length;
  const names = hosts.map((host, rank) => (alone ? host : `${host}:${rank}`));
  return figures.flatMap(({ metric, title, value, good, ratio }) => {
    const own = run.rows.filter((row) => isInMatrix(row) && pairMetricOf(row) === metric);
    const rails = [...new Set(own.map((row) => row.labels.rail))];
    const sizes = [...new Set(own.map((row) => row.bytes))];
    return rails.flatMap((rail) =>
      sizes.map((bytes) => {
        const rows = own.filter((row) => row.labels.rail === rail && row.bytes === bytes);
        const best = good(rows.flatMap((row) => value(row) ?? []));
        const cells = names.map(() => names.map((): MatrixCell | undefined => undefined));
        for (const row of rows) {
          const figure = value(row);
          const { from, to } = row.labels;
          // A damaged file may name ranks that the run does not have.
          if (from === undefined || to === undefined || to >= names.length) continue;
          const line = cells[from];
          if (line === undefined) continue;
          line[to] =
            figure === undefined
              ? { text: noValue }
              : { text: shortText(figure), ratio: ratio(figure, best) };
        }
        const name = rail === undefined ? title : `${title}, ${rail}`;
        return { title: `${name}${partText(cells)}`, names, cells };
      }),
    );
  });
}

/** Nothing where every pair was measured. */
function partText(cells: Matrix['cells']): string {
  const all = cells.length * (cells.length - 1);
  const measured = cells.reduce((sum, line) => sum + line.filter((one) => one).length, 0);
  if (measured === all) return '';
  return ` (${measured} of ${all} directed pairs; the others were not measured)`;
}

interface HeatStyle {
  readonly paint: Paint;
  readonly unicode: boolean;
  readonly width: number;
}

/** From good to bad. */
const shades = { unicode: ['█', '▓', '▒', '░'], ascii: ['#', '+', '-', '.'] } as const;
const steps = [0.95, 0.88, 0.5];
const levelOf = (ratio: number): number => steps.filter((step) => ratio < step).length;

/** Lines of one matrix; where it does not fit, its worst rows. */
export function heatMap(matrix: Matrix, style: HeatStyle): string[] {
  const { names, cells, title } = matrix;
  const [, widest] = extentOf(widthsOf(cells));
  const cellWidth = Math.max(widest, ...names.map((name) => name.length)) + 2;
  const headWidth = Math.max(...names.map((name) => name.length), 'from \\ to'.length);
  if (headWidth + names.length * (cellWidth + 1) > style.width) return worstRows(matrix, style);
  const head = ['from \\ to'.padEnd(headWidth), ...names.map((name) => name.padStart(cellWidth))];
  return [
    style.paint('bold', title),
    head.join(' '),
    ...cells.map((line, from) =>
      [
        names[from]!.padEnd(headWidth),
        ...line.map((cell, to) => cellText(cell, cellWidth, style, from === to)),
      ]
        .join(' ')
        .trimEnd(),
    ),
  ];
}

function* widthsOf(cells: Matrix['cells']): Generator<number> {
  yield noValue.length;
  for (const line of cells) for (const cell of line) yield cell?.text.length ?? 0;
}

function cellText(
  cell: MatrixCell | undefined,
  width: number,
  style: HeatStyle,
  diagonal: boolean,
): string {
  if (cell === undefined) return (diagonal ? noValue : '').padStart(width);
  if (cell.ratio === undefined) return cell.text.padStart(width);
  const level = levelOf(cell.ratio);
  const shade = shades[style.unicode ? 'unicode' : 'ascii'][level];
  const text = `${shade} ${cell.text.padStart(width - 2)}`;
  return level === 3 ? style.paint('red', text) : level === 2 ? style.paint('yellow', text) : text;
}

const rowsShown = 10;

/** The slowest ranks of a matrix that does not fit: medians over their peers relative to the best, and their worst pair. */
export function worstRanks({ names, cells }: Matrix) {
  const into: number[][] = names.map(() => []);
  for (const line of cells) {
    line.forEach((cell, to) => {
      if (cell?.ratio !== undefined) into[to]!.push(cell.ratio);
    });
  }
  const lines = names.flatMap((name, rank) => {
    const out = cells[rank]!.flatMap((cell) => cell?.ratio ?? []);
    const own = into[rank]!;
    if (out.length === 0 || own.length === 0) return [];
    const [worst] = extentOf([...out, ...own, 1]);
    return [{ name, out: median(out), into: median(own), worst }];
  });
  return lines.sort((a, b) => a.out + a.into - (b.out + b.into)).slice(0, rowsShown);
}

export const worstTitle = ({ title, names }: Matrix, shown: number): string =>
  `${title}: ${names.length} × ${names.length} ranks, slowest ${shown} relative to the best`;

export const worstHeads = ['rank', 'out', 'in', 'worst pair'] as const;

export const percentText = (ratio: number): string => `${Math.round(ratio * 100)} %`;

/** Of a world too large for the terminal: the slowest ranks, in numbers. */
function worstRows(matrix: Matrix, style: HeatStyle): string[] {
  const ranked = worstRanks(matrix);
  const width = ranked.reduce((most, { name }) => Math.max(most, name.length), 4);
  const percent = (ratio: number) => percentText(ratio).padStart(7);
  const [rank, out, into, pair] = worstHeads;
  return [
    style.paint('bold', worstTitle(matrix, ranked.length)),
    `${rank.padEnd(width)} ${out.padStart(7)} ${into.padStart(7)}  ${pair}`,
    ...ranked.map((line) => {
      const text = `${line.name.padEnd(width)} ${percent(line.out)} ${percent(line.into)} ${percent(line.worst)}`;
      return Math.min(line.out, line.into) < steps[1]! ? style.paint('yellow', text) : text;
    }),
  ];
}
