import { gbpsText } from '../../results/row-figures.js';
import type { Row } from '../../results/schema.js';
import type { Listener } from '../../runner/runner.js';
import { describeWarning } from './failure.js';
import { oneLine, printError } from './print.js';
import { progressLine, type Standing } from './progress-line.js';
import { terminalOf } from './terminal.js';

/** More than a line draws. */
const mostRates = 64;

/**
 * Progress on stderr, and only if that is a terminal. It is drawn when a rank says what it prepares, when a row begins
 * and when the window changes its size, never by a timer: nothing wakes rank 0 while it measures.
 */
export class Progress implements Listener {
  readonly #title: string;
  readonly #quiet: boolean;
  readonly #show: boolean;
  readonly #startedMs = performance.now();
  readonly #rates = new Map<string, (number | null)[]>();
  readonly #onResize = () => this.#draw();
  #last: string | undefined;
  #standing: Standing | undefined;
  /** What a rank does before the first row. */
  #said: string | undefined;
  /** Characters on the screen since the last drawing. */
  #drawn = 0;

  constructor(title: string, quiet: boolean) {
    this.#title = title;
    this.#quiet = quiet;
    // A line that is drawn again and again needs a terminal that can wipe it.
    this.#show = !quiet && process.stderr.isTTY === true && process.env.TERM !== 'dumb';
    if (this.#show) process.stderr.on('resize', this.#onResize);
  }

  warned(text: string): void {
    if (!this.#quiet) printError(`${describeWarning(text)}\n`);
  }

  said(rank: number, text: string): void {
    if (!this.#show) return;
    this.#said = oneLine(`rank ${rank}: ${text}`);
    this.#draw();
  }

  starting(row: Parameters<Listener['starting']>[0]): void {
    if (!this.#show) return;
    this.#said = undefined;
    const elapsedMs = performance.now() - this.#startedMs;
    this.#standing = {
      ...row,
      title: this.#title,
      last: this.#last,
      rates: this.#rates.get(row.column) ?? [],
      elapsedMs,
      lastRowMs: elapsedMs - (this.#standing?.elapsedMs ?? 0),
    };
    this.#draw();
  }

  row({ gbps, mops, column, outcome }: Row): void {
    if (outcome === 'skipped') return;
    if (mops !== undefined) this.#last = `${mops.toFixed(2)} Mops`;
    else this.#last = gbps === null ? outcome : `${gbpsText(gbps)} Gbps`;
    this.#rates.set(column, [...(this.#rates.get(column) ?? []).slice(-mostRates), mops ?? gbps]);
  }

  end(): void {
    if (!this.#show) return;
    process.stderr.off('resize', this.#onResize);
    if (this.#drawn > 0) process.stderr.write(this.#wipe());
    this.#standing = undefined;
    this.#said = undefined;
    this.#drawn = 0;
  }

  #draw(): void {
    const terminal = terminalOf(process.stderr);
    // The last column stays free: a full line would wrap on some terminals.
    const width = columnsOf(process.stderr) - 1;
    const line = (color: boolean) =>
      this.#said?.slice(0, width) ??
      (this.#standing && progressLine(this.#standing, { ...terminal, width, color }));
    const text = line(terminal.color);
    if (text === undefined) return;
    process.stderr.write(this.#wipe() + text);
    this.#drawn = line(false)?.length ?? 0;
  }

  /** A window that became narrower has broken the line into several; all of them go. */
  #wipe(): string {
    const lines = Math.ceil(this.#drawn / columnsOf(process.stderr));
    const linesUp = Math.max(0, lines - 1);
    return `\r${linesUp === 0 ? '' : `\x1b[${linesUp}A`}\x1b[J`;
  }
}

/** A terminal that some launchers make says that it has no columns. */
const columnsOf = (stream: NodeJS.WriteStream): number => stream.columns || 80;
