import { oneLine } from './print.js';

/** One line on stderr that says what is going on, drawn anew each time; only if that is a terminal. */
export class StatusLine implements Disposable {
  readonly #show: boolean;

  constructor(quiet: boolean) {
    this.#show = !quiet && process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  }

  say(text: string): void {
    if (this.#show)
      process.stderr.write(`\r\x1b[K${oneLine(text).slice(0, (process.stderr.columns || 80) - 1)}`);
  }

  [Symbol.dispose](): void {
    if (this.#show) process.stderr.write('\r\x1b[K');
  }
}
