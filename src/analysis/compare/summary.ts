import { extentOf } from '../../measure/extent.js';
import { plural } from '../../measure/units.js';
import { nameOfRow } from '../../results/row-name.js';
import { type ComparedRow, type Comparison, fewestBlocks, type RowVerdict } from './compare.js';

type Judged = Omit<Comparison, 'summary'>;

/** `2.0×` or `10 %`: by how much a ratio is away from 1, in either direction. */
export function factorText(ratio: number): string {
  const factor = Math.max(ratio, 1 / ratio);
  if (factor >= 9.95) return `${factor.toFixed(0)}×`;
  return factor >= 1.495 ? `${factor.toFixed(1)}×` : `${Number(((factor - 1) * 100).toFixed(1))} %`;
}

export const percentText = (share: number): string =>
  `${Number((share * 100).toPrecision(share < 0.1 ? 2 : 3))} %`;

/** The largest effect, whether it is proven, and what is left open: one sentence. */
export function summaryOf(comparison: Judged): string {
  const { benchmark, rows, tolerance } = comparison;
  const count = (verdict: RowVerdict) => rows.filter((row) => row.verdict === verdict).length;
  const beyond = (verdict: RowVerdict, slow: boolean) =>
    rows.filter((row) => row.verdict === verdict && isBeyond(row, slow, tolerance));
  const looks = [beyond('unclear', true), beyond('unclear', false)];
  const groups = [
    { rows: beyond('slower', true), said: ['is', 'are'], proven: true },
    { rows: beyond('faster', false), said: ['is', 'are'], proven: false },
    ...looks.map((list) => ({ rows: list, said: ['looks', 'look'], proven: false })),
  ].filter((group) => group.rows.length > 0);
  // What is proven to be slower comes first, then the largest effect.
  groups.sort((x, y) => Number(y.proven) - Number(x.proven) || sizeOf(y.rows) - sizeOf(x.rows));
  const measured = rows.filter((row) => row.ratio !== null).length;
  const effects = groups.map((group) => effectText(group.rows, measured, group.said));
  const open = count('unclear');
  const within = open - looks.flat().length;
  const parts = [
    ...(count('broken in B') > 0 ? [`${plural(count('broken in B'), 'row')} broken in B`] : []),
    ...effects,
    ...restText(comparison, count('same'), within, effects.length === 0),
    ...(open > 0 ? [doubtText(comparison, effects.length > 0)] : []),
    ...(['broken in A', 'only in A', 'only in B'] as const)
      .filter((verdict) => count(verdict) > 0)
      .map((verdict) => `${plural(count(verdict), 'row')} ${verdict}`),
  ];
  return `${benchmark}: ${parts.join('; ') || 'no rows to compare'}`;
}

const isBeyond = ({ ratio }: ComparedRow, slow: boolean, tolerance: number): boolean =>
  ratio !== null && (slow ? ratio > 1 + tolerance : ratio < 1 / (1 + tolerance));

const distance = ({ ratio }: ComparedRow): number => Math.abs(Math.log(ratio!));
const sizeOf = (rows: readonly ComparedRow[]): number => extentOf(rows.map(distance))[1];

/** Effects that differ by less than this share are one figure. */
const alike = 0.1;

function effectText(rows: readonly ComparedRow[], of: number, said: readonly string[]): string {
  const [largest, ...others] = [...rows].sort((one, other) => distance(other) - distance(one));
  const way = largest!.ratio! > 1 ? 'slower' : 'faster';
  const least = others.at(-1);
  const varies = least !== undefined && distance(largest!) - distance(least) > Math.log1p(alike);
  const name = varies ? ` (${nameOfRow(largest!)})` : '';
  const verb = rows.length === 1 ? said[0] : said[1];
  const some =
    rows.length === 1 && of > 1 ? nameOfRow(largest!) : `${rows.length} of ${plural(of, 'row')}`;
  return `${some} ${verb} ${varies ? 'up to ' : ''}${factorText(largest!.ratio!)} ${way}${name}`;
}

/** The rows without an effect. */
function restText({ tolerance }: Judged, same: number, within: number, alone: boolean): string[] {
  const percent = percentText(tolerance);
  if (alone && same === 0 && within > 0) return [`no row differs by more than ${percent}`];
  const all = alone && within === 0 && same > 1 ? 'all ' : '';
  return [
    ...(same > 0
      ? [`${all}${plural(same, 'row')} ${isOrAre(same)} the same (within ${percent})`]
      : []),
    ...(within > 0 ? [withinText(within, percent)] : []),
  ];
}

const isOrAre = (count: number): string => (count === 1 ? 'is' : 'are');

function withinText(count: number, percent: string): string {
  const differ = count === 1 ? 'differs' : 'differ';
  return `${plural(count, 'row')} ${differ} by less than ${percent}, but ${isOrAre(count)} not proven the same`;
}

/** The runs that taught the noise: earlier ones, and those compared where a side has several. */
export const runsText = ({ blocks }: Pick<Comparison, 'blocks'>): string =>
  Math.max(...blocks) > 1
    ? 'runs of the same set-up (including those compared)'
    : 'earlier runs of the same set-up';

/** Why the rest is unclear, and the way out. */
function doubtText({ noise, blocks, rows }: Judged, effect: boolean): string {
  const it = effect ? 'it' : 'that nothing changed';
  if (noise.drift !== undefined) {
    return `within the ${percentText(noise.drift)} set with --drift`;
  }
  if (noise.from === 'blocks') {
    return `${Math.min(...blocks)} runs per side do not prove ${it}: measure more rounds`;
  }
  if (noise.from === 'history') {
    const [, most] = extentOf(rows.map((row) => row.noise?.earlierRuns ?? 0));
    return `${most} ${runsText({ blocks })} do not prove ${it}: measure in turns with weft ab`;
  }
  const few = Math.max(...blocks) > 1 ? `fewer than ${fewestBlocks} runs per side` : 'single runs';
  return `${few} cannot prove ${it}: measure in turns with weft ab`;
}
