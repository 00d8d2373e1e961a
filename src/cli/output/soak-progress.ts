import { clockText, spanText, suspectsText } from '../../analysis/soak/words.js';
import { formatNanoseconds } from '../../measure/units.js';
import { gbpsText } from '../../results/row-figures.js';
import { sizedName } from '../../results/row-name.js';
import type { Row } from '../../results/schema.js';
import type { Stall } from '../../results/soak.js';
import type { SoakListener } from '../../runner/soak/course.js';
import { describeWarning } from './failure.js';
import { printError } from './print.js';

/** A line on stderr for every interval and every stall, if that is a terminal. */
export class SoakProgress implements SoakListener {
  readonly #quiet: boolean;
  readonly #show: boolean;

  constructor(quiet: boolean) {
    this.#quiet = quiet;
    this.#show = !quiet && process.stderr.isTTY === true;
  }

  warned(text: string): void {
    if (!this.#quiet) printError(`${describeWarning(text)}\n`);
  }

  said(rank: number, text: string): void {
    this.#say(`rank ${rank}: ${text}`);
  }

  starting(): void {}

  row(row: Row): void {
    const { soak, nanoseconds } = row;
    if (!soak || !nanoseconds) return;
    const { p50, p99, max } = nanoseconds;
    const times = [p50, p99, soak.p999, max].map(formatNanoseconds);
    const [middle, tail, far, most] = times;
    this.#say(
      `${clockText(soak.startedAt)}  ${sizedName(row)}  ${gbpsText(row.gbps)} Gbps  p50 ${middle}  p99 ${tail}  p99.9 ${far}  max ${most}`,
    );
  }

  stalled(stall: Stall): void {
    const { at, milliseconds } = stall;
    this.#say(`${clockText(at)}  stall of ${spanText(milliseconds)}: ${suspectsText(stall)}`);
  }

  #say(line: string): void {
    if (this.#show) printError(`${line}\n`);
  }
}
