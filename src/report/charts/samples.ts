import { sizeText } from '../../measure/units.js';
import type { Row } from '../../results/schema.js';
import { framed, places, upright } from '../axes.js';
import { type ChartParts, plotHeightPx, rounded } from '../chart.js';
import { texts } from '../hydrate.js';
import { commonBytes, isPassed, type Line, rowAt, sizeName, withLeftOut } from '../lines.js';
import { fewestSamples, percentilesIn } from '../spread.js';
import { shareCurves } from './share-curves.js';

const boxPercents = [1, 25, 50, 75, 99];
/** More boxes than this are too thin to read; the table has them all. */
const mostBoxes = 240;

const enough = (row: Row | undefined): row is Row =>
  row !== undefined && isPassed(row) && row.samples.length >= fewestSamples;

/** Every row's samples against their own median, so that all sizes share one scale. */
export function spreadBoxes(lines: readonly Line[]): ChartParts | undefined {
  const sampled = lines.filter((line) => line.rows.some(enough));
  const sizes = [...new Set(sampled.flatMap((line) => line.rows.map((row) => row.bytes!)))];
  sizes.sort((a, b) => a - b);
  if (sampled.length === 0 || sizes.length * sampled.length > mostBoxes) return undefined;
  const boxes = sampled.map((line) => sizes.map((bytes) => boxOf(rowAt(line, bytes))));
  const all = boxes.flat().flatMap((box) => box ?? []);
  return {
    title: 'Spread of the samples',
    caption: withLeftOut(
      'Boxes cover the middle half of a row’s samples, whiskers the 1st to 99th percentile, all divided by the row’s median. A flat box is a steady row.',
      lines,
    ),
    summary: `samples lie between ${texts.ratio!(Math.min(...all))} and ${texts.ratio!(Math.max(...all))} of their row's median`,
    heightPx: plotHeightPx,
    option: framed({
      tooltip: 'box',
      trigger: 'item',
      legend: sampled.map((line) => line.name),
      x: places(
        sizes.map((bytes) => sizeText(bytes)),
        sizeName(lines),
      ),
      y: { ...upright({ name: 'time', text: 'ratio' }), ...around(all) },
      yName: 'time ÷ median of its row',
      series: sampled.map((line, i) => ({
        type: 'boxplot',
        name: line.name,
        itemStyle: { color: `@paper`, borderColor: `@series${line.color}`, borderWidth: 1.5 },
        // The legend would show the paper's colour otherwise.
        color: `@series${line.color}`,
        boxWidth: [4, 26],
        data: boxes[i]!.map((box) => box ?? []),
      })),
    }),
  };
}

const mostIntervals = 6;

function around(values: readonly number[]) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].find(
    (each) => (high - low) / each <= mostIntervals - 1,
  );
  const interval = step ?? (high - low) / mostIntervals;
  const whole = (value: number) => rounded(value * interval);
  return {
    interval,
    min: whole(Math.floor(low / interval)),
    max: whole(Math.ceil(high / interval)),
  };
}

function boxOf(row: Row | undefined): number[] | undefined {
  if (!enough(row)) return undefined;
  const values = percentilesIn(row, boxPercents);
  return values.map((value) => rounded(value / values[2]!));
}

/** How many points a curve is drawn with, however many samples there were. */
const curvePoints = 60;

/** The share of iterations that were done by a time, at one size. */
export function distribution(lines: readonly Line[]): ChartParts | undefined {
  const bytes = commonBytes(lines);
  if (bytes === undefined) return undefined;
  const drawn = lines.flatMap((line) => {
    const row = rowAt(line, bytes);
    return enough(row) ? [{ line, row }] : [];
  });
  if (drawn.length === 0) return undefined;
  return shareCurves({
    title: `Distribution of the samples, ${sizeText(bytes)}`,
    caption: withLeftOut(
      'Share of samples that finished within a given time. A steep curve is steady; a long stretch to the right is a tail.',
      lines,
      bytes,
    ),
    time: 'time per iteration',
    share: 'share of samples',
    curves: drawn.map(({ line, row }) => {
      const { p50, p99 } = row.nanoseconds!;
      return { line, points: curveOf(row), p50, p99 };
    }),
    symbols: { symbolSize: 4 },
  });
}

function curveOf(row: Row): number[][] {
  const steps = Math.min(curvePoints, row.samples.length);
  const percents = Array.from({ length: steps }, (_, i) => ((i + 1) * 100) / steps);
  return percentilesIn(row, percents).map((time, i) => [rounded(time), rounded(percents[i]!)]);
}
