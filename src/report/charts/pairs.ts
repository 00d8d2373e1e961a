import type { Row, Run } from '../../results/schema.js';
import { fontFamily, framed, places } from '../axes.js';
import { type ChartParts, rounded } from '../chart.js';
import { groupBy } from '../group.js';
import { bytesText, texts } from '../hydrate.js';
import { barChart } from './bars.js';

interface Pair {
  readonly from: number;
  readonly to: number;
  readonly row: Row;
}

/** The pair rows of a run at their largest size: one row per pair and rail. */
function pairsOf(run: Run): { bytes: number; pairs: Pair[] } | undefined {
  const rows = run.rows.filter(({ kind, bytes, labels }) => {
    return (
      kind === 'pair' && bytes !== null && labels.from !== undefined && labels.to !== undefined
    );
  });
  const measured = rows.filter((row) => row.nanoseconds !== null);
  if (measured.length === 0) return undefined;
  const bytes = Math.max(...measured.map((row) => row.bytes!));
  const pairs = rows
    .filter((row) => row.bytes === bytes)
    .map((row) => ({ from: row.labels.from!, to: row.labels.to!, row }));
  return { bytes, pairs };
}

export interface PairFigure {
  readonly title: string;
  readonly caption: string;
  readonly text: 'gbps' | 'ns';
  readonly value: (row: Row) => number | null | undefined;
}

export const pairBandwidth: PairFigure = {
  title: 'Bandwidth of every pair',
  caption:
    'Each cell is one pair: its row sends, its column receives. Crossed cells have no result.',
  text: 'gbps',
  value: (row) => row.gbps,
};

export const pairTime: PairFigure = {
  title: 'Time of every pair',
  caption:
    'Each cell is one pair: its row sends, its column receives. Crossed cells have no result.',
  text: 'ns',
  value: (row) => row.nanoseconds?.mean,
};

const cellsWithText = 12;
const mostCellsPx = 640;

/** A heat map per rail, and per column where a run has several; undefined without pairs. */
export function pairMaps(run: Run, figure: PairFigure): ChartParts[] {
  const found = pairsOf(run);
  if (found === undefined) return [];
  const columns = new Set(found.pairs.map(({ row }) => row.column));
  const groups = groupBy(found.pairs, ({ row }) => partOf(row, columns.size > 1));
  return [...groups].flatMap(([part, pairs]) => {
    const map = heatMap(pairs, figure);
    if (map === undefined) return [];
    const where = part === '' ? '' : `, ${part}`;
    return [{ ...map, title: `${figure.title}, ${bytesText(found.bytes)}${where}` }];
  });
}

const partOf = ({ column, labels }: Row, named: boolean): string =>
  [named ? column : '', labels.rail ?? ''].filter((part) => part !== '').join(' ');

function heatMap(pairs: readonly Pair[], figure: PairFigure): ChartParts | undefined {
  const valued = pairs.flatMap((pair) => {
    const value = figure.value(pair.row);
    return value == null ? [] : [{ ...pair, value: rounded(value) }];
  });
  if (valued.length === 0) return undefined;
  const ranks = [...new Set(pairs.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const place = new Map(ranks.map((rank, i) => [rank, i]));
  const at = ({ from, to }: Pair) => [place.get(to)!, place.get(from)!];
  const have = new Set(valued.map(({ row }) => row));
  const values = valued.map(({ value }) => value);
  const sizePx = Math.min(mostCellsPx, Math.max(260, ranks.length * 46));
  return {
    title: figure.title,
    caption: figure.caption,
    summary: extremes(valued, figure),
    heightPx: sizePx + 150,
    option: mapOption({
      names: ranks.map((rank) => String(rank)),
      figure,
      cells: valued.map((pair) => [...at(pair), pair.value]),
      missing: pairs.filter(({ row }) => !have.has(row)).map(at),
      extent: [Math.min(...values), Math.max(...values)],
    }),
  };
}

interface MapParts {
  readonly names: readonly string[];
  readonly figure: PairFigure;
  readonly cells: readonly number[][];
  readonly missing: readonly number[][];
  readonly extent: readonly [number, number];
}

function mapOption({ names, figure, cells, missing, extent }: MapParts) {
  const shownText = names.length <= cellsWithText;
  const [low, high] = extent;
  // The whole range of colours for a difference of 2 % would cry wolf: a scale spans a tenth at least.
  const floor = Math.min(low, high * 0.9);
  return framed({
    tooltip: `cell ${figure.text}`,
    trigger: 'item',
    x: { ...places(names, 'to rank'), splitArea: { show: false } },
    y: { ...places(names), inverse: true },
    yName: 'from rank',
    series: [
      {
        type: 'heatmap',
        data: cells,
        label: {
          show: shownText,
          fontSize: 11,
          formatter: `@value ${figure.text === 'gbps' ? 'number' : figure.text} 2`,
        },
        itemStyle: { borderColor: '@paper', borderWidth: 1 },
        emphasis: { itemStyle: { borderColor: '@text', borderWidth: 2 } },
      },
      {
        type: 'scatter',
        symbol: 'path://M0,0L10,10M10,0L0,10',
        symbolSize: 12,
        itemStyle: { color: '@warn', borderColor: '@warn', borderWidth: 1.5 },
        data: missing,
      },
    ],
    more: {
      grid: { left: 12, right: 24, top: 34, bottom: 92, outerBoundsMode: 'same' },
      visualMap: {
        type: 'continuous',
        seriesIndex: 0,
        dimension: 2,
        min: rounded(floor),
        max: rounded(high),
        calculable: false,
        orient: 'horizontal',
        left: 'center',
        bottom: 6,
        itemWidth: 14,
        itemHeight: 260,
        text: [texts[figure.text]!(high), texts[figure.text]!(floor)],
        textStyle: { color: '@muted', fontFamily },
        inRange: { color: [0, 1, 2, 3, 4, 5, 6].map((i) => `@heat${i}`) },
      },
    },
  });
}

function extremes(pairs: readonly (Pair & { value: number })[], { text }: PairFigure): string {
  const sorted = pairs.toSorted((a, b) => a.value - b.value);
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const write = texts[text]!;
  const name = ({ from, to }: Pair) => `rank ${from} to rank ${to}`;
  if (low === high) return `${name(low)}: ${write(low.value)}`;
  return `highest ${name(high)} with ${write(high.value)}, lowest ${name(low)} with ${write(low.value)}`;
}

/** What each rail carried, over all pairs. */
export function railBars(run: Run): ChartParts | undefined {
  const found = pairsOf(run);
  const pairs = (found?.pairs ?? []).filter(({ row }) => row.labels.rail && row.gbps !== null);
  if (pairs.length === 0) return undefined;
  const rails = [...groupBy(pairs, ({ row }) => row.labels.rail!)];
  const mean = (list: readonly Pair[]) =>
    list.reduce((sum, { row }) => sum + row.gbps!, 0) / list.length;
  return barChart({
    title: `Bandwidth by rail, ${bytesText(found!.bytes)}`,
    caption: 'The mean over the pairs that a rail joins; hover for the slowest and the fastest.',
    places: rails.map(([rail]) => rail),
    axis: { name: 'bandwidth', text: 'gbps' },
    bars: [
      {
        name: 'mean over pairs',
        color: 0,
        values: rails.map(([, list]) => mean(list)),
        ranges: rails.map(([, list]) => {
          const rates = list.map(({ row }) => row.gbps!);
          return [Math.min(...rates), Math.max(...rates)] as const;
        }),
      },
    ],
  });
}
