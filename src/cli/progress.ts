import type { Listener } from '../bench/runner.js';
import { formatBytes } from '../measure/units.js';
import type { Row } from '../results/schema.js';
import { speaksUnicode } from './terminal.js';

const barWidth = 24;

/** Progress on stderr, and only if that is a terminal: the row in work, the last rate, the time left. */
export class Progress implements Listener {
  readonly #title: string;
  readonly #show: boolean;
  readonly #started = performance.now();
  readonly #marks = speaksUnicode(process.env)
    ? { full: '█', empty: '░', dot: '·' }
    : { full: '#', empty: '-', dot: '|' };
  #last = '';

  constructor(title: string, quiet: boolean) {
    this.#title = title;
    this.#show = !quiet && process.stderr.isTTY === true;
  }

  starting({ index, total, column, bytes }: Parameters<Listener['starting']>[0]): void {
    if (!this.#show) return;
    const seconds = (performance.now() - this.#started) / 1000;
    const left = index === 0 ? '' : `${Math.ceil((seconds / index) * (total - index))} s left`;
    const filled = Math.round((index / total) * barWidth);
    const bar = this.#marks.full.repeat(filled) + this.#marks.empty.repeat(barWidth - filled);
    const parts = [`${this.#title} ${column} ${formatBytes(bytes)}`, this.#last, left];
    const text = `${bar} ${index}/${total} ${parts.filter(Boolean).join(` ${this.#marks.dot} `)}`;
    process.stderr.write(`\r\x1b[2K${text.slice(0, (process.stderr.columns ?? 80) - 1)}`);
  }

  row(row: Row): void {
    this.#last = row.gbps === null ? row.outcome : `${row.gbps.toFixed(1)} Gbps`;
  }

  end(): void {
    if (this.#show) process.stderr.write('\r\x1b[2K');
  }
}
