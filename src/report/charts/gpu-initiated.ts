import { formatNanoseconds, sizeText } from '../../measure/units.js';
import type { Row } from '../../results/schema.js';
import type { ChartParts } from '../chart.js';
import { isPassed, type Line, shapeOf, withLeftOut } from '../lines.js';
import { bandOf } from '../spread.js';
import { barChart } from './bars.js';
import { bandwidth, chartBySize, type Measure } from './by-size.js';
import { type ScalingChart, scalingChart } from './scaling.js';

/** What a request from a GPU through a proxy costs, relative to the same transfer initiated by the CPU. */
export const proxyShare = (lines: readonly Line[]): ChartParts | undefined =>
  chartBySize(
    lines.filter(({ rows }) => rows.some((row) => row.lossPercent !== undefined)),
    {
      title: 'Blocking and NBI as a share of CPU-initiated',
      caption:
        'Blocking waits (quiet) after every request, NBI once after many. 100 % is the same transfer initiated by the CPU.',
      sizeName: 'size of a write',
      measure: {
        axis: { name: 'of CPU-initiated', text: 'percent' },
        value: ({ lossPercent }) => (lossPercent === undefined ? undefined : 100 - lossPercent),
      },
      levels: [{ value: 100, text: 'CPU-initiated' }],
    },
  );

/** Where the time of a request went, a chart per configuration that knows. */
export const requestStages = (lines: readonly Line[]): ChartParts[] =>
  lines.flatMap((line) => stagesOf(line) ?? []);

function stagesOf(line: Line): ChartParts | undefined {
  const { name, rows } = line;
  const traced = rows.filter((row) => isPassed(row) && stagesIn(row).length > 0);
  const stages = [...new Set(traced.flatMap((row) => stagesIn(row).map((stage) => stage.name)))];
  const shareOf = (row: Row, stage: string): number | null => {
    const found = stagesIn(row).find((one) => one.name === stage);
    const whole = stagesIn(row).reduce((sum, { p50 }) => sum + Math.max(0, p50), 0);
    return found === undefined || whole === 0 ? null : (100 * Math.max(0, found.p50)) / whole;
  };
  const chart = barChart({
    title: `Where a request’s time goes, ${name}`,
    caption: withLeftOut(
      `Median of each stage as a share of their sum. The last stage ends when the waiting producer sees the completion.${clocksText(traced)}`,
      [line],
    ),
    places: traced.map((row) => sizeText(row.bytes!)),
    placesName: 'size of a write',
    axis: { name: 'of a request’s time', text: 'percent', max: 100 },
    stacked: true,
    bars: stages.map((stage, color) => ({
      name: stage,
      color,
      values: traced.map((row) => shareOf(row, stage)),
    })),
  });
  return chart && { ...chart, summary: traced.map(stagesText).join('; ') };
}

/** Between the clocks of a GPU and a CPU a short stage may come out below 0. */
function clocksText(rows: readonly Row[]): string {
  const doubt = Math.max(0, ...rows.map((row) => row.breakdown!.clockUncertaintyNanoseconds));
  return doubt === 0
    ? ''
    : ` Stages that start or end at the producer span two clocks: they are accurate to ± ${formatNanoseconds(doubt)}, and negative values count as 0.`;
}

const stagesIn = ({ breakdown }: Row) => breakdown?.stages ?? [];

const stagesText = (row: Row): string =>
  `${sizeText(row.bytes!)}: ${stagesIn(row)
    .map(({ name, p50 }) => `${name} ${formatNanoseconds(Math.max(0, p50))}`)
    .join(', ')}`;

const columnOf = ({ column, rows }: Line): string =>
  column.replace(shapeOf(rows[0]!.labels), '').replace(/ +/g, ' ').trim();

/** What a line over the number of blocks holds: a column, its producers and its threads in a block. */
const overGrid: Omit<ScalingChart, 'title' | 'measure'> = {
  caption:
    'One kernel with a growing number of blocks (grid), a line per number of threads in a block.',
  xName: 'blocks in the grid',
  x: (line) => line.rows[0]!.labels.grid,
  familyOf: columnOf,
  nameOf: (line) => {
    const { block } = line.rows[0]!.labels;
    const shape = block === undefined ? '' : `, ${block} ${block === 1 ? 'thread' : 'threads'}`;
    return `${columnOf(line)}${shape}${line.runName === '' ? '' : ` · ${line.runName}`}`;
  },
};

const isShaped = ({ rows }: Line): boolean => rows[0]?.labels.grid !== undefined;

/** A kernel's bandwidth over its number of blocks, at one size. */
export const byGrid = (lines: readonly Line[]): ChartParts | undefined =>
  scalingChart(lines.filter(isShaped), {
    ...overGrid,
    title: (size) => `Bandwidth by grid, ${size}`,
    measure: bandwidth,
  });

const rate: Measure = {
  axis: { name: 'rate', text: 'mops' },
  value: (row) => row.mops,
  range: (row) => {
    const times = bandOf(row);
    if (times === undefined || row.mops === undefined) return undefined;
    const at = (time: number) => (row.mops! * row.nanoseconds!.mean) / time;
    return [at(times[1]), at(times[0])];
  },
};

/** Messages per second, where rows count them: over the grid, over the size, or side by side. */
export function messageRates(lines: readonly Line[]): ChartParts | undefined {
  const counted = lines.filter((line) => line.rows.some((row) => row.mops !== undefined));
  const title = 'Messages per second';
  const caption = 'Millions of messages that the consumer received per second.';
  const overGrids = scalingChart(counted.filter(isShaped), {
    ...overGrid,
    caption: `${caption} ${overGrid.caption}`,
    title: () => `${title} by grid`,
    measure: rate,
  });
  if (overGrids !== undefined) return overGrids;
  const overSizes = chartBySize(counted, {
    title,
    caption,
    sizeName: 'size of a message',
    measure: rate,
  });
  if (overSizes !== undefined) return overSizes;
  const rows = counted.map((line) => line.rows.findLast(isPassed));
  return barChart({
    title,
    caption: withLeftOut(caption, counted),
    places: counted.map((line) => line.name),
    axis: rate.axis,
    bars: [
      {
        name: 'rate',
        color: 0,
        values: rows.map((row) => row?.mops ?? null),
        ranges: rows.map((row) => row && rate.range!(row)),
      },
    ],
  });
}
