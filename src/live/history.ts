import { setImmediate as breathe } from 'node:timers/promises';
import {
  type History,
  historyFrom,
  type Trend,
  trendOf,
  usualTolerance,
} from '../analysis/history/history.js';
import { seriesOf } from '../analysis/history/series.js';
import type { Chart } from '../report/chart.js';
import { historyCharts, rowHistoryChart } from '../report/charts/history.js';
import { historyParts, idOfTrend } from '../report/history-page.js';
import type { IndexedRun } from '../results/run-index.js';
import type { RunFolder } from './run-folder.js';
import type { HistoryAnswer } from './wire.js';

interface Worked {
  readonly history: History;
  readonly answer: HistoryAnswer;
}

/** The history of a folder, worked out anew only when its runs have changed. */
export class HistoryDesk {
  readonly #folder: RunFolder;
  #kept: { readonly runs: readonly IndexedRun[]; readonly work: Promise<Worked> } | undefined;

  constructor(folder: RunFolder) {
    this.#folder = folder;
  }

  async answer(): Promise<HistoryAnswer> {
    return (await this.#current()).answer;
  }

  /** The chart of one row. */
  async row(id: string): Promise<Chart | undefined> {
    const { history } = await this.#current();
    const trend = history.trends.find((one) => idOfTrend(one) === id);
    return trend && rowHistoryChart(trend);
  }

  async #current(): Promise<Worked> {
    await this.#folder.refresh();
    const runs = this.#folder.indexed;
    if (this.#kept?.runs !== runs) this.#kept = { runs, work: workOut(runs) };
    return this.#kept.work;
  }
}

/** Row by row: others are answered in between. */
async function workOut(runs: readonly IndexedRun[]): Promise<Worked> {
  const trends: Trend[] = [];
  for (const series of seriesOf(runs)) {
    trends.push(trendOf(series, usualTolerance));
    await breathe();
  }
  const history = historyFrom(trends, usualTolerance);
  return { history, answer: { ...historyParts(history), charts: historyCharts(history) } };
}
