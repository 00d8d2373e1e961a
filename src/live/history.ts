import { type History, historyOf } from '../analysis/history/history.js';
import type { Chart } from '../report/chart.js';
import { historyCharts, rowHistoryChart } from '../report/charts/history.js';
import { historyParts, idOfTrend } from '../report/history-page.js';
import type { IndexedRun } from '../results/run-index.js';
import type { RunFolder } from './run-folder.js';
import type { HistoryAnswer } from './wire.js';

/** The history of a folder, worked out anew only when its runs have changed. */
export class HistoryDesk {
  readonly #folder: RunFolder;
  #kept: { runs: readonly IndexedRun[]; history: History; answer: HistoryAnswer } | undefined;

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

  async #current() {
    await this.#folder.refresh();
    const runs = this.#folder.indexed;
    if (this.#kept?.runs === runs) return this.#kept;
    const history = historyOf(runs);
    const answer = { ...historyParts(history), charts: historyCharts(history) };
    this.#kept = { runs, history, answer };
    return this.#kept;
  }
}
