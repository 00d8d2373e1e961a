import { microseconds } from '../measure/units.js';
import type { Row } from './schema.js';
import {
  type WorkloadFigure,
  type WorkloadKey,
  workloadFigures,
  workloadKeys,
} from './workload-figures.js';

export interface Figure {
  /** Short, for text tables; the first is the column's own. */
  readonly title: string;
  /** As the reference's Markdown tables spell it. */
  readonly longTitle: string;
  text(row: Row): string;
}

export const noValue = '-';

export const fixed = (value: number | null | undefined, digits: number): string =>
  value === null || value === undefined ? noValue : value.toFixed(digits);

/** Two decimals as in the reference, more where they would leave nothing. */
export const gbpsText = (gbps: number | null): string =>
  fixed(gbps, gbps !== null && gbps > 0 && gbps < 0.1 ? 4 : 2);

const us = (nanoseconds: number | undefined): string =>
  fixed(nanoseconds === undefined ? undefined : microseconds(nanoseconds), 2);

/** `BusBW %` in a terminal is `BusBW (%)` in the reference's Markdown. */
const figure = (name: string, unit: string, text: Figure['text']): Figure => ({
  title: [name, unit].filter(Boolean).join(' '),
  longTitle: name === '' ? unit : `${name} (${unit})`,
  text,
});

/** The first figure of a row also says that the row did not pass. */
const first = (unit: string, text: Figure['text']): Figure =>
  figure('', unit, (row) => (row.outcome === 'passed' ? text(row) : row.outcome.toUpperCase()));

const gbps = first('Gbps', (row) => gbpsText(row.gbps));
const mops = first('M/s', (row) => fixed(row.mops, 3));
const busbw = figure('BusBW', '%', (row) => fixed(row.busbwPercent, 1));
const line = figure('Line', '%', (row) => fixed(row.linePercent, 1));
const lineRate = figure('Line', 'Gbps', (row) => gbpsText(row.lineGbps));
const busRate = figure('BusBW', 'GB/s', (row) => fixed(row.busbwGBps, 3));
const latency = figure('Lat', 'us', (row) => us(row.nanoseconds?.mean));
const loss = figure('Loss', '%', (row) => fixed(row.lossPercent, 1));
const peak = figure('Peak', '%', busbw.text);
const each = figure('p50', 'ns', (row) => fixed(row.nanoseconds?.p50, 1));
const bound = figure('Bound', '%', (row) => fixed(row.ofBoundPercent, 1));
const half = figure('Half', 'us', (row) => us(row.halfRoundTripNanoseconds));

export const messageFigures: readonly Figure[] = [mops, each];
export const copyFigures: readonly Figure[] = [gbps, peak, latency];

const plainGbps = figure('', 'Gbps', (row) => gbpsText(row.gbps));
const slowdown = first('x', (row) => fixed(row.slowdown, 2));
const p50 = figure('p50', 'us', (row) => us(row.nanoseconds?.p50));
const p99 = figure('p99', 'us', (row) => us(row.nanoseconds?.p99));

/** What went over the line is shown where it differs from the first figure, as a share where its rate is known. */
export function transferFigures(rows: readonly Row[]): Figure[] {
  if (rows.some((row) => row.routing)) return layerFigures(rows);
  if (rows.some((row) => row.mops !== undefined)) return [mops, plainGbps, busbw];
  if (rows.some((row) => row.slowdown !== undefined)) {
    return [slowdown, p50, p99, ...workloadColumns(rows, ['slowdown'])];
  }
  const lineDiffers = rows.some((row) => row.lineGbps !== row.gbps);
  const rateKnown = rows.some((row) => row.linePercent !== null);
  const roundTrips = rows.some((row) => row.halfRoundTripNanoseconds !== undefined);
  const onTheLine = lineDiffers ? [rateKnown ? line : lineRate] : [];
  const losses = rows.some((row) => row.lossPercent !== undefined) ? [loss] : [];
  // Of a collective: nccl-tests' figure, which for most of them is also what a rank sends.
  const collective = rows.some((row) => row.busbwGBps !== undefined);
  const rates = collective ? [busRate, ...(rateKnown ? [line] : [])] : [busbw, ...onTheLine];
  // The requests of kv may be few for its NICs, or start late: then its line cannot be full.
  const requests = rows.some((row) => row.requestTimes !== undefined);
  const bounds = requests && rows.some((row) => row.ofBoundPercent !== null) ? [bound] : [];
  const usual = [gbps, ...rates, ...bounds, latency, ...losses, ...(roundTrips ? [half] : [])];
  return [...usual, ...workloadColumns(rows)];
}

/** Of an expert layer; notes say how uneven it is. */
function layerFigures(rows: readonly Row[]): Figure[] {
  const rateKnown = rows.some((row) => row.ofBoundPercent !== null);
  const own = workloadColumns(rows, ['imbalance']);
  return [gbps, ...(rateKnown ? [bound] : []), latency, ...own];
}

/** The figures that only these rows' benchmark has. */
const workloadColumns = (rows: readonly Row[], without: readonly WorkloadKey[] = []): Figure[] =>
  workloadKeys
    .filter((key) => !without.includes(key) && rows.some((row) => row[key] !== undefined))
    .map((key) => {
      const { name, unit, digits, per = 1 }: WorkloadFigure = workloadFigures[key];
      const shown = (value: number | undefined) => (value === undefined ? value : value / per);
      return figure(name, unit, (row) => fixed(shown(row[key]), digits));
    });
