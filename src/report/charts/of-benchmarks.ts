import { groupBy } from '../../measure/group.js';
import { sizeText } from '../../measure/units.js';
import { traitsOf } from '../../results/column-name.js';
import type { Row } from '../../results/schema.js';
import type { ChartParts } from '../chart.js';
import { commonBytes, type Line, rowAt, withLeftOut, worldSizes } from '../lines.js';
import { differencesBeside, type FactName } from '../run-names.js';
import { barChart } from './bars.js';
import { bandwidth, chartBySize, latency, type Measure } from './by-size.js';
import { scalingChart } from './scaling.js';

/**
 * All configurations beside each other at the largest size that most have; undefined where lines over the size say
 * the same: one configuration at several sizes.
 */
export function configurations(
  lines: readonly Line[],
  what: 'bandwidth' | 'time',
): ChartParts | undefined {
  const bytes = commonBytes(lines);
  if (bytes === undefined) return undefined;
  const columns = [...new Set(lines.map((line) => line.column))];
  const { axis, value, range } = what === 'time' ? latency : bandwidth;
  return barChart({
    title: `${what === 'time' ? 'Time' : 'Bandwidth'} by configuration, ${sizeText(bytes)}`,
    caption: withLeftOut('Means at the largest size that most configurations have.', lines, bytes),
    places: columns,
    axis,
    bars: [...groupBy(lines, (line) => line.run).values()].map((group, i, all) => {
      const byColumn = new Map(group.map((line) => [line.column, line]));
      const rows = columns.map((column) => rowIn(byColumn.get(column), bytes));
      return {
        name: group[0]!.runName || axis.name,
        color: i,
        // A single run: each configuration in the colour that its lines have.
        ...(all.length === 1 && { colors: columns.map((column) => byColumn.get(column)!.color) }),
        values: rows.map((row) => (row && value(row)) ?? null),
        ranges: rows.map((row) => row && range!(row)),
      };
    }),
  });
}

const rowIn = (line: Line | undefined, bytes: number): Row | undefined =>
  line && rowAt(line, bytes);

/** One run per number of hosts, or of ranks where all have the same hosts. */
export function byNodes(lines: readonly Line[]): ChartParts | undefined {
  const { noun, of } = worldSizes(lines);
  return scalingChart(lines, {
    nameOf: namedApart(lines, noun === 'hosts' ? ['hosts', 'ranks'] : ['ranks', 'ranksPerHost']),
    title: (size) => `Bandwidth by number of ${noun}, ${size}`,
    caption: `One run per number of ${noun}. In an all-to-all the figure is per peer: once the line is full, it halves when the number of peers doubles.`,
    xName: noun,
    x: of,
    measure: bandwidth,
  });
}

/** A configuration's name, with what else its run differs in from others: a line joins only runs that are alike. */
function namedApart(lines: readonly Line[], shown: readonly FactName[]): (line: Line) => string {
  const runs = [...new Set(lines.map(({ run }) => run))];
  const names = differencesBeside(runs, shown);
  const byRun = new Map(runs.map((run, i) => [run, names[i]!]));
  return ({ column, run }) => [column, byRun.get(run)].filter(Boolean).join(' · ');
}

const buffersOf = ({ run, column }: Line): number => {
  if (typeof run.settings.buffers === 'number') return run.settings.buffers;
  return traitsOf(column).strategy === 'round-robin' ? Math.max(1, run.world.ranks - 1) : 1;
};

/** Round-robin against split: how both fare with more independent buffers in flight. */
export function byBuffers(
  lines: readonly Line[],
  what: 'bandwidth' | 'time',
): ChartParts | undefined {
  if (!lines.some(({ run }) => typeof run.settings.buffers === 'number')) return undefined;
  const measure: Measure = what === 'time' ? latency : bandwidth;
  const chart = {
    nameOf: namedApart(lines, ['buffers', 'ranksPerHost']),
    caption:
      'Round-robin gives each buffer its own channel; split (Multi) spreads every buffer over all channels.',
    xName: 'independent buffers in flight',
    x: buffersOf,
    measure,
  };
  const title = what === 'time' ? 'Time' : 'Bandwidth';
  const scaled = scalingChart(lines, {
    ...chart,
    title: (size) => `Round-robin versus split: ${title.toLowerCase()} by buffers, ${size}`,
  });
  if (scaled !== undefined) return scaled;
  const buffers = buffersOf(lines[0]!);
  return chartBySize(lines, {
    title: `Round-robin versus split: ${title.toLowerCase()} with ${buffers} buffers`,
    caption: chart.caption,
    sizeName: 'size of a buffer',
    measure,
  });
}
