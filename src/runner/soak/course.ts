import { skippedRow } from '../../results/rows.js';
import type { Row } from '../../results/schema.js';
import type { LinkDown, Stall } from '../../results/soak.js';
import type { SoakSettings } from '../../settings/soak.js';
import type { Column } from '../columns.js';
import type { Listener } from '../runner.js';
import type { LapReport } from './lap.js';
import { Usual } from './ledger.js';

/** Who wants a soak to end sets the signal. */
export interface Stop {
  signal?: NodeJS.Signals | undefined;
  /** Called when the soak has ended. */
  ended?(): void;
}

/** What rank 0 is told while a soak runs. */
export interface SoakListener extends Listener {
  /** At once, before the row that has it. */
  stalled?(stall: Stall): void;
}

/** After so many intervals they become longer, so that a file grows ever more slowly. */
const fullIntervals = 1000;
const doubledAfter = 500;
/** An interval that would be shorter than this share of the others is not begun. */
const shortestShare = 0.05;

/** An interval of a soak, by rank 0's clock. */
export class Interval {
  readonly number: number;
  readonly milliseconds: number;
  /** It has connections of its own. */
  readonly reopened: boolean;
  readonly #endMs: number;

  constructor(course: Course, number: number) {
    const doublings = Math.max(0, Math.floor((number - fullIntervals) / doubledAfter) + 1);
    this.number = number;
    this.milliseconds = course.settings.everyMs * 2 ** doublings;
    this.reopened = course.settings.reopen && number > 0;
    this.#endMs = Math.min(performance.now() + this.milliseconds, course.endMs);
  }

  isOver(): boolean {
    return performance.now() >= this.#endMs;
  }
}

/** What outlives the connections of a soak: its clock, what is usual, and who listens. */
export class Course {
  readonly settings: SoakSettings;
  readonly stop: Stop;
  readonly listener: SoakListener;
  readonly usual = new Usual();
  /** Links that were down lately, on rank 0. */
  readonly recent: LinkDown[] = [];
  /** Links that no row has told of yet, on rank 0. */
  readonly untold: LinkDown[] = [];
  readonly endMs: number;
  readonly #speaks: boolean;
  readonly #skipped = new Set<string>();
  #asked = false;

  constructor(settings: SoakSettings, stop: Stop, listener: SoakListener, rank: number) {
    this.settings = settings;
    this.stop = stop;
    this.listener = listener;
    this.endMs = performance.now() + (settings.forMs ?? Number.POSITIVE_INFINITY);
    this.#speaks = rank === 0;
  }

  /** Some rank was asked to end. */
  isStopped(): boolean {
    return this.#asked || this.stop.signal !== undefined;
  }

  /** Whether there is time for another interval. */
  goesOn(): boolean {
    const left = this.endMs - performance.now();
    return !this.isStopped() && left > shortestShare * this.settings.everyMs;
  }

  /** Rank 0 hears all ranks. */
  heard(reports: readonly Pick<LapReport, 'stop'>[], stalls: readonly Stall[]): void {
    if (reports.some(({ stop }) => stop !== undefined)) this.#asked = true;
    for (const stall of stalls) this.listener.stalled?.(stall);
  }

  readonly skip = (column: Column, reason: string, bytes?: number): void => {
    const size = bytes === undefined ? {} : { bytes };
    this.skipRow(skippedRow({ column: column.name, ...size, reason }));
  };

  /** Told once, however often it is found. */
  skipRow(row: Row): void {
    const key = `${row.column} ${row.bytes}`;
    if (!this.#speaks || this.#skipped.has(key)) return;
    this.#skipped.add(key);
    this.listener.row(row);
  }
}
