import { groupBy } from '../measure/group.js';
import { isInMatrix } from '../results/row-kinds.js';
import type { Row, Run } from '../results/schema.js';
import { runNames } from './run-names.js';

/** One configuration of one run: what a line of a chart shows. */
export interface Line {
  readonly name: string;
  readonly column: string;
  readonly run: Run;
  readonly runName: string;
  /** Of the palette: the configuration's, or the run's where there is one configuration only. */
  readonly color: number;
  /** Which dash pattern: the run's. */
  readonly dash: number;
  /** Of measured rows with a size, smallest first. */
  readonly rows: readonly Row[];
  /** What a model expects of a line, drawn beside it. */
  readonly isModel?: boolean;
}

/** What the size of these lines' rows is the size of, as an axis names it. */
export const sizeName = ([line]: readonly Line[]): string =>
  line?.run.benchmark === 'all2all' || line?.run.benchmark === 'all-to-all-single'
    ? 'size per peer'
    : 'size';

/** Predictions of measured runs, by the run's id. */
export type Models = ReadonlyMap<string, Run>;

/** As many colours as a palette has. */
const fewColumns = 8;

/** The configurations of all runs, where they are few enough for a colour each; otherwise none. */
export function columnOrder(runs: readonly Run[]): string[] {
  const columns = new Set(runs.flatMap((run) => [...byConfiguration(run).keys()]));
  return columns.size <= fewColumns ? [...columns] : [];
}

/**
 * The lines of runs of one benchmark. A configuration keeps its colour in all their charts, and in those of other
 * benchmarks where `order` names it.
 */
export function linesOf(runs: readonly Run[], order: readonly string[] = []): Line[] {
  const names = runNames(runs);
  const grouped = runs.map(byConfiguration);
  const columns = [...new Set(grouped.flatMap((group) => [...group.keys()]))];
  const colors = order.length > 0 ? order : columns;
  return runs.flatMap((run, runIndex) =>
    [...grouped[runIndex]!].map(([column, rows]) => {
      const runName = names[runIndex]!;
      return {
        name: runName === '' ? column : `${column} · ${runName}`,
        column,
        run,
        runName,
        color: columns.length === 1 && runs.length > 1 ? runIndex : colors.indexOf(column),
        dash: columns.length === 1 ? 0 : runIndex,
        rows,
      };
    }),
  );
}

/** What models expect of these lines. Runs of the same world have one line together. */
export function modelLines(lines: readonly Line[], models: Models): Line[] {
  const worlds = new Set(lines.flatMap(({ run }) => models.get(run.id)?.id ?? []));
  const found = lines.flatMap((line): [string, Line][] => {
    const run = models.get(line.run.id);
    const column = line.rows[0]?.column;
    const rows = onePerSize(run?.rows.filter((row) => row.column === column) ?? []);
    if (run === undefined || rows.length === 0) return [];
    const where = worlds.size > 1 ? [line.runName] : [];
    const name = [line.column, ...where, `model ${run.model!.name}, predicted`].join(' · ');
    return [[`${column} ${run.id}`, { ...line, name, run, rows, isModel: true }]];
  });
  return [...new Map(found).values()];
}

function byConfiguration(run: Run): Map<string, Row[]> {
  const measured = run.rows.filter(
    (row) => !isInMatrix(row) && row.bytes !== null && row.nanoseconds !== null,
  );
  const nameOf = configurationNames(measured);
  const groups = groupBy(measured, nameOf);
  return new Map([...groups].map(([name, group]) => [name, onePerSize(group)]));
}

/** Smallest first. Of repeats that nobody has merged, the middle one stands for all. */
function onePerSize(rows: readonly Row[]): Row[] {
  const sizes = [...groupBy(rows, (row) => row.bytes!)].sort(([a], [b]) => a - b);
  return sizes.map(([, same]) => {
    const sorted = same.toSorted((a, b) => a.nanoseconds!.mean - b.nanoseconds!.mean);
    return sorted[Math.floor((sorted.length - 1) / 2)]!;
  });
}

/** A column's name, with those labels that tell its rows apart. */
function configurationNames(rows: readonly Row[]): (row: Row) => string {
  const columns = groupBy(rows, (row) => row.column);
  const telling = new Map(
    [...columns].map(([column, group]) => [
      column,
      tellers.filter((teller) => new Set(group.map(({ labels }) => teller(labels))).size > 1),
    ]),
  );
  return ({ column, labels }) =>
    [column, ...telling.get(column)!.map((teller) => teller(labels))]
      .filter((part) => part !== '')
      .join(' ');
}

const tellers: readonly ((labels: Row['labels']) => string)[] = [
  (labels) => shapeOf(labels),
  (labels) => labels.producer ?? '',
  (labels) => labels.rail ?? '',
];

/** A kernel's `grid×block`; empty where no kernel ran. */
export function shapeOf({ grid, block }: Row['labels']): string {
  if (grid === undefined) return '';
  return block === undefined ? `grid ${grid}` : `${grid}×${block}`;
}

/**
 * Of a sweep over a kernel's shapes, the fastest of each column: lines of all would hide each other. Where a few lines
 * are all there are, they stay.
 */
export function fastestShapes(lines: readonly Line[]): readonly Line[] {
  const nameOf = ({ rows: [row] }: Line) =>
    JSON.stringify([row!.column, row!.labels.producer, row!.labels.rail]);
  const ofRuns = [...groupBy(lines, (line) => line.run).values()];
  const groups = ofRuns.flatMap((ofRun) => [...groupBy(ofRun, nameOf).values()]);
  if (lines.length <= fewColumns || groups.length === lines.length) return lines;
  const names = [...new Set(lines.map(nameOf))];
  return groups.map((group) => {
    const fastest = fastestOf(group);
    return { ...fastest, color: names.indexOf(nameOf(fastest)) };
  });
}

function fastestOf(lines: readonly Line[]): Line {
  const bytes = commonBytes(lines);
  const timeOf = (line: Line) =>
    (bytes === undefined ? undefined : rowAt(line, bytes)?.nanoseconds?.mean) ?? Infinity;
  return lines.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a));
}

/** What runs of different sizes differ in: their number of hosts, or of ranks where all have as many hosts. */
export function worldSizes(lines: readonly Line[]): {
  readonly noun: 'hosts' | 'ranks';
  readonly of: (line: Line) => number;
} {
  const hosts = ({ run }: Line) => run.world.hosts.length;
  return new Set(lines.map(hosts)).size > 1
    ? { noun: 'hosts', of: hosts }
    : { noun: 'ranks', of: ({ run }) => run.world.ranks };
}

/** A chart by size with more lines than this cannot be read. */
const mostLines = 12;

/**
 * The lines that charts by size show. Where another chart shows them all by the size of the world, of too many only
 * those of the smallest and largest world; `leftOut` says so.
 */
export function linesBySize(
  lines: readonly Line[],
  shownByWorld: boolean,
): { readonly shown: readonly Line[]; readonly leftOut?: string } {
  const { noun, of } = worldSizes(lines);
  const drawn = lines.filter(({ rows }) => rows.length > 1);
  const between = [...new Set(drawn.map(of))].sort((a, b) => a - b).slice(1, -1);
  if (!shownByWorld || lines.length <= mostLines || between.length === 0) return { shown: lines };
  return {
    shown: lines.filter((line) => !between.includes(of(line))),
    leftOut: `Not shown: ${between.join(', ')} ${noun}; see the chart by number of ${noun} and the tables.`,
  };
}

/** A row that failed has times, but none that say how fast anything is. */
export const isPassed = (row: Row): boolean => row.outcome === 'passed';

export function commonBytes(lines: readonly Line[]): number | undefined {
  const counts = new Map<number, number>();
  for (const line of lines) {
    for (const bytes of new Set(line.rows.filter(isPassed).map((row) => row.bytes!))) {
      counts.set(bytes, (counts.get(bytes) ?? 0) + 1);
    }
  }
  const most = Math.max(...counts.values());
  const common = [...counts].filter(([, count]) => count === most).map(([bytes]) => bytes);
  return common.length === 0 ? undefined : Math.max(...common);
}

/** The row of a size, if it passed. */
export const rowAt = (line: Line, bytes: number): Row | undefined =>
  line.rows.findLast((row) => row.bytes === bytes && isPassed(row));

/** A chart's caption, with how many rows (of a size, where one is drawn) are not in it because they failed. */
export function withLeftOut(caption: string, lines: readonly Line[], bytes?: number): string {
  const failed = lines
    .flatMap(({ rows }) => rows)
    .filter((row) => !isPassed(row) && (bytes === undefined || row.bytes === bytes)).length;
  return failed === 0 ? caption : `${caption} Failed rows not shown: ${failed}.`;
}
