import { extentOf } from '../../measure/extent.js';
import { groupBy } from '../../measure/group.js';
import { mean } from '../../measure/summary.js';
import { sizeText } from '../../measure/units.js';
import { pairMetricOf } from '../../results/column-name.js';
import { blockOf, isLarge, mostRanksInFull } from '../../results/large-matrix.js';
import { isInMatrix } from '../../results/row-kinds.js';
import type { Row, Run } from '../../results/schema.js';
import { type ChartParts, rounded } from '../chart.js';
import { texts } from '../hydrate.js';
import { isPassed } from '../lines.js';
import { barChart } from './bars.js';
import { mapOption } from './heat-map.js';

interface Pair {
  readonly from: number;
  readonly to: number;
  readonly row: Row;
}

interface PairMap {
  readonly bytes: number;
  readonly column: string;
  readonly rail: string;
  readonly pairs: readonly Pair[];
}

/** The pair rows of a run by column and rail, each at its largest measured size. */
function mapsOf(run: Run, wanted: (row: Row) => boolean): PairMap[] {
  const rows = run.rows.filter((row) => {
    const { from, to } = row.labels;
    return isInMatrix(row) && row.bytes !== null && from !== undefined && to !== undefined;
  });
  const groups = groupBy(rows, ({ column, labels }) => `${column} ${labels.rail ?? ''}`);
  return [...groups.values()].flatMap((group) => {
    const measured = group.filter((row) => isMeasured(row) && wanted(row));
    if (measured.length === 0) return [];
    const [, bytes] = extentOf(measured.map((row) => row.bytes!));
    const { column, labels } = measured[0]!;
    const pairs = group
      .filter((row) => row.bytes === bytes)
      .map((row) => ({ from: row.labels.from!, to: row.labels.to!, row }));
    return [{ bytes, column, rail: labels.rail ?? '', pairs }];
  });
}

const isMeasured = (row: Row): boolean => isPassed(row) && row.nanoseconds !== null;

/** Round trips are there for their time; everything else is there for its rate. */
const isTrip = (row: Row): boolean => pairMetricOf(row) === 'latency' || row.gbps === null;
/** A round on each rail alone is no matrix: `railBars` shows it. */
const isRate = (row: Row): boolean => !isTrip(row) && pairMetricOf(row) !== 'rail';

interface PairFigure {
  readonly title: string;
  readonly text: 'gbps' | 'ns';
  readonly wanted: (row: Row) => boolean;
  readonly value: (row: Row) => number | null | undefined;
}

export const pairBandwidth: PairFigure = {
  title: 'Bandwidth of every pair',
  text: 'gbps',
  wanted: isRate,
  value: (row) => row.gbps,
};

export const pairTime: PairFigure = {
  title: 'Latency of every pair',
  text: 'ns',
  wanted: isTrip,
  value: (row) => row.halfRoundTripNanoseconds ?? row.nanoseconds?.mean,
};

const mapCaption =
  'Each cell is one pair: its row sends, its column receives. Crossed cells failed or have no result.';
const partCaption = `${mapCaption} Empty cells were not measured.`;
const mostCellsPx = 640;

/** A heat map per rail, and per column where a run has several. */
export function pairMaps(run: Run, figure: PairFigure): ChartParts[] {
  const maps = mapsOf(run, figure.wanted);
  const columns = new Set(maps.map(({ column }) => column));
  const draw = isLarge(run.world) ? blockMap(blockOf(run.world)) : heatMap;
  return maps.flatMap(({ bytes, column, rail, pairs }) => {
    const map = draw(pairs, figure);
    if (map === undefined) return [];
    const where = [sizeText(bytes), columns.size > 1 ? column : '', rail];
    return [{ ...map, title: [map.title, ...where.filter(Boolean)].join(', ') }];
  });
}

function heatMap(pairs: readonly Pair[], figure: PairFigure): ChartParts | undefined {
  const valued = pairs.flatMap((pair) => {
    const value = isMeasured(pair.row) ? figure.value(pair.row) : null;
    return value == null ? [] : [{ ...pair, value: rounded(value) }];
  });
  if (valued.length === 0) return undefined;
  const ranks = [...new Set(pairs.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const place = new Map(ranks.map((rank, i) => [rank, i]));
  const at = ({ from, to }: Pair) => [place.get(to)!, place.get(from)!];
  const have = new Set(valued.map(({ row }) => row));
  const values = valued.map(({ value }) => value);
  const sizePx = Math.min(mostCellsPx, Math.max(260, ranks.length * 46));
  const all = ranks.length * (ranks.length - 1);
  const part = pairs.length < all;
  return {
    title: part
      ? figure.title.replace('every pair', `${pairs.length} of ${all} pairs`)
      : figure.title,
    caption: part ? partCaption : mapCaption,
    summary: extremes(valued, figure),
    heightPx: sizePx + 150,
    option: mapOption({
      names: ranks.map((rank) => String(rank)),
      text: figure.text,
      cells: valued.map((pair) => [...at(pair), pair.value]),
      missing: pairs.filter(({ row }) => !have.has(row)).map(at),
      extent: extentOf(values),
    }),
  };
}

/** Of ranks too many for a cell per pair: the slowest pair of each block of them. */
const blockMap =
  (block: number) =>
  (pairs: readonly Pair[], figure: PairFigure): ChartParts | undefined => {
    const worst = new Map<number, Pair & { value: number }>();
    const broken = new Map<number, number[]>();
    const slower = figure.text === 'gbps' ? -1 : 1;
    let [last, fastest] = [0, undefined as (Pair & { value: number }) | undefined];
    for (const pair of pairs) {
      const [x, y] = [Math.floor(pair.to / block), Math.floor(pair.from / block)];
      last = Math.max(last, x, y);
      const key = y * mostRanksInFull + x;
      const value = isMeasured(pair.row) ? figure.value(pair.row) : null;
      if (value == null) {
        broken.set(key, [x, y]);
        continue;
      }
      const before = worst.get(key)?.value;
      if (before === undefined || (value - before) * slower > 0) worst.set(key, { ...pair, value });
      if (!fastest || (value - fastest.value) * slower < 0) fastest = { ...pair, value };
    }
    if (!fastest) return undefined;
    const drawn = [...worst.values()];
    const slowest = drawn.reduce((a, b) => ((b.value - a.value) * slower > 0 ? b : a));
    const names = Array.from({ length: last + 1 }, (_, i) => `${i * block}–${(i + 1) * block - 1}`);
    return {
      title: figure.title.replace(
        'every pair',
        `the slowest pair of each ${block} × ${block} ranks`,
      ),
      caption: `There are too many ranks for one cell per pair: each cell shows the slowest pair from ${block} ranks (row) to ${block} ranks (column). Crossed cells contain a pair that failed or has no result. Empty cells were not measured.`,
      summary: extremes([fastest, slowest], figure),
      heightPx: mostCellsPx + 150,
      option: mapOption({
        names,
        text: figure.text,
        cells: drawn.map(({ from, to, value }) => [
          Math.floor(to / block),
          Math.floor(from / block),
          rounded(value),
        ]),
        missing: [...broken.values()],
        extent: extentOf(drawn.map(({ value }) => value)),
      }),
    };
  };

function extremes(pairs: readonly (Pair & { value: number })[], { text }: PairFigure): string {
  const sorted = pairs.toSorted((a, b) => a.value - b.value);
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const write = texts[text]!;
  const name = ({ from, to }: Pair) => `rank ${from} to rank ${to}`;
  if (low === high) return `${name(low)}: ${write(low.value)}`;
  return `highest ${name(high)} with ${write(high.value)}, lowest ${name(low)} with ${write(low.value)}`;
}

/** What each rail carried, over all pairs. */
export function railBars(run: Run): ChartParts[] {
  // Of a large matrix a live page has the slowest pairs only, which are no measure for a mean.
  const wanted = (row: Row) =>
    !isTrip(row) && (!isLarge(run.world) || pairMetricOf(row) === 'rail');
  const maps = mapsOf(run, wanted).filter(({ rail }) => rail !== '');
  if (maps.length === 0) return [];
  const rates = maps.map(({ pairs }) =>
    pairs.flatMap(({ row }) => (isMeasured(row) ? (row.gbps ?? []) : [])),
  );
  const chart = barChart({
    title: `Bandwidth by rail, ${sizeText(maps[0]!.bytes)}`,
    caption: 'Mean over all pairs on a rail that passed; hover for the slowest and the fastest.',
    places: maps.map(({ rail }) => rail),
    axis: { name: 'bandwidth', text: 'gbps' },
    bars: [
      {
        name: 'mean over pairs',
        color: 0,
        values: rates.map(mean),
        ranges: rates.map(extentOf),
      },
    ],
  });
  return chart === undefined ? [] : [chart];
}
