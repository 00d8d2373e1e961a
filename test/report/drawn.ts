// What tests read off a chart.
import type { Chart } from '../../src/report/chart.js';
import { chartsOf } from '../../src/report/charts.js';
import type { Run } from '../../src/results/schema.js';

export interface Series {
  readonly type: string;
  readonly name: string;
  readonly data: readonly (readonly number[])[];
  readonly stack?: string;
}

/** The one with that id. */
export const chart = (runs: readonly Run[], id: string): Chart => {
  const found = chartsOf(runs).find((each) => each.id === id);
  if (found === undefined) throw new Error(`no chart ${id}`);
  return found;
};
export const seriesOf = ({ option }: Chart) => option.series as Series[];
/** Without the bands around them. */
export const linesIn = (drawn: Chart) =>
  seriesOf(drawn).filter((series) => series.stack === undefined);
export const axisOf = ({ option }: Chart, axis: 'xAxis' | 'yAxis') =>
  option[axis] as { type: string; name?: string; axisLabel: { formatter: string } };
