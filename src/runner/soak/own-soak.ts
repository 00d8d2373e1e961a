import type { Carried } from '../../analysis/path/observation.js';
import { addTotals, totalsOf } from '../../analysis/soak/nic-counts.js';
import { isSockets } from '../../fabric/providers.js';
import { median } from '../../measure/quantile.js';
import { scaled } from '../../results/repeats.js';
import { rowsByKey } from '../../results/row-key.js';
import type { Row } from '../../results/schema.js';
import type { NicTotals, Stall } from '../../results/soak.js';
import { carriedBetween, type Reading } from '../../session/path/counters.js';
import { LinkWatch, type SeenDown } from '../../session/path/link-watch.js';
import { Pulse } from '../../session/path/pulse.js';
import { tcpResent } from '../../session/path/tcp-resent.js';
import { stallAfterMs } from '../../settings/soak.js';
import type { World } from '../../world/world.js';
import type { OpenBenchmark } from '../benchmark.js';
import type { Course, Interval } from './course.js';
import type { LapReport } from './lap.js';
import { Ledger } from './ledger.js';
import { intervalRow } from './soak-row.js';

/** A row, and when it was begun and done on rank 0: milliseconds of the run it belongs to. */
interface TimedRow {
  readonly row: Row;
  readonly fromMs: number;
}

/** What a rank tells at the end of an interval. */
interface Closing {
  readonly down: readonly SeenDown[];
  /** By NIC of its host; from the first rank of each host. */
  readonly gained: readonly Carried[];
}

/** A pair's rows are one with those of the other pairs. */
const subjectOf = ({ labels, ...row }: Row): Row => {
  const { from: _, to: __, rail: ___, ...kept } = labels;
  return { ...row, kind: row.kind === 'pair' ? 'transfer' : row.kind, labels: kept };
};

const keyOf = ({ kind, column, bytes, labels: { grid, block } }: Row): string =>
  JSON.stringify([kind, column, bytes, grid, block]);

const keyWithPair = (row: Row): string => [...rowsByKey([row]).keys()][0]!;

/**
 * Soaks a benchmark with a procedure of its own: runs it again and again over the same connections. Its rows say how
 * long iterations took; when exactly is known to the row.
 */
export class OwnSoak implements AsyncDisposable {
  readonly #opened: OpenBenchmark;
  readonly #world: World;
  readonly #course: Course;
  readonly #pulse: Pulse;
  readonly #first: boolean;
  /** Of this host. */
  readonly #nics: ReadonlySet<string>;
  #reading: Reading | undefined;
  /** What no row has told of yet. */
  #counted: NicTotals[] = [];
  #ledger: Ledger | undefined;
  #rows: TimedRow[] = [];
  #startMs = 0;
  #begunMs = 0;
  /** By key: the number of its cell, and the last of its rows. */
  readonly #cells = new Map<string, { readonly index: number; last: Row }>();
  #checked = new Map<string, { bytes: number; wrong: number }>();
  #bad: Row | undefined;

  constructor(opened: OpenBenchmark, world: World, course: Course) {
    this.#opened = opened;
    this.#world = world;
    this.#course = course;
    const path = opened.session?.path;
    const own = path?.routes.nics.filter(
      (_, rank) => path.routes.hostOf[rank] === path.routes.hostOf[world.rank],
    );
    this.#first = path?.counters !== undefined;
    const links = this.#first ? new LinkWatch(own!.flat(), performance.now()) : undefined;
    this.#pulse = new Pulse(links, stallAfterMs(0, undefined));
    this.#nics = new Set(own?.flat());
    this.#reading = path?.counters?.read();
  }

  /** Rank 0's benchmark begins a row. */
  starting(): void {
    this.#begunMs = performance.now();
  }

  /** Rank 0's benchmark has measured a row. */
  row(row: Row): void {
    this.#rows.push({ row, fromMs: this.#begunMs - this.#startMs });
    this.#begunMs = performance.now();
  }

  async interval(interval: Interval): Promise<boolean> {
    const { session } = this.#opened;
    const places = { hosts: this.#world.hosts, nics: session?.path.routes.nics ?? [] };
    this.#ledger = new Ledger('initiator', places, this.#course);
    this.#checked = new Map();
    for (let runs = 0; ; runs++) {
      const step = await this.#world.broadcast('soak', this.#next(interval, runs));
      if (step !== 'run') {
        await this.#close(step === 'end');
        this.#tell(interval);
        return step === 'more';
      }
      await this.#runOnce();
    }
  }

  abandon(interval: Interval, reason: string): void {
    this.#ledger?.addLinks(this.#pulse.down(performance.now()), this.#world.rank, Date.now());
    this.#tell(interval, reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pulse[Symbol.dispose]();
  }

  #next(interval: Interval, runs: number): 'run' | 'more' | 'end' {
    const course = this.#course;
    if (this.#bad) return 'end';
    if (!course.isStopped() && (runs === 0 || !interval.isOver())) return 'run';
    return course.goesOn() ? 'more' : 'end';
  }

  /** What is down at the end is told then; otherwise when it comes up. */
  async #close(atEnd: boolean): Promise<void> {
    const down = atEnd ? this.#pulse.down(performance.now()) : [];
    const own = { down, gained: this.#gained() };
    const all = await this.#world.gather<Closing>('end of an interval', own);
    if (!all) return;
    for (const [rank, { down }] of all.entries()) this.#ledger!.addLinks(down, rank, Date.now());
    const gained = all.flatMap((one) => one.gained);
    if (gained.length > 0) this.#counted.push(totalsOf(gained));
  }

  /** What the NICs of this host counted since the last call. */
  #gained(): Carried[] {
    const [before, now] = [this.#reading, this.#opened.session?.path.counters?.read()];
    this.#reading = now;
    return [...this.#nics].flatMap((nic) => {
      const [from, to] = [before?.get(nic), now?.get(nic)];
      return (from && to && carriedBetween(from, to)) ?? [];
    });
  }

  async #runOnce(): Promise<void> {
    this.#rows = [];
    const startedAt = Date.now();
    this.#startMs = performance.now();
    this.#begunMs = this.#startMs;
    const resentBefore = this.#first ? tcpResent() : undefined;
    await this.#opened.run();
    const own: LapReport = {
      samples: new Float64Array(),
      wallMs: performance.now() - this.#startMs,
      silences: [],
      ...this.#pulse.take(this.#startMs),
      resent: resentBefore === undefined ? undefined : (tcpResent() ?? 0) - resentBefore,
      stop: this.#course.stop.signal,
    };
    const reports = await this.#world.gather<LapReport>('lap', own);
    if (reports) this.#course.heard(reports, this.#note(reports, startedAt));
  }

  #note(reports: readonly LapReport[], startedAt: number): Stall[] {
    this.#ledger!.addReported({ reports, at: startedAt });
    this.#addResent(reports);
    return this.#rows.flatMap(({ row, fromMs }) => {
      if (row.outcome === 'failed' || row.outcome === 'aborted') this.#bad ??= row;
      if (row.nanoseconds === null || row.samples.length === 0) {
        if (row.outcome === 'skipped') this.#course.skipRow(row);
        return [];
      }
      const key = keyOf(subjectOf(row));
      const cell = this.#cells.get(key) ?? { index: this.#cells.size, last: row };
      cell.last = row;
      this.#cells.set(key, cell);
      const checked = this.#checked.get(key) ?? { bytes: 0, wrong: 0 };
      checked.bytes += row.checked.bytes;
      checked.wrong += row.checked.wrong;
      this.#checked.set(key, checked);
      const { from, to } = row.labels;
      const pair = from === undefined || to === undefined ? undefined : ([from, to] as const);
      const own = keyWithPair(row);
      const middle = median(row.samples) / row.batch;
      const usualNs = this.#course.usual.of(own) ?? middle;
      this.#course.usual.learn(own, middle);
      const shifted = reports.map((report) => shiftedBy(report, fromMs));
      const done = { reports: shifted, at: startedAt + fromMs, pair };
      return this.#ledger!.addRow(done, row, cell.index, usualNs);
    });
  }

  /** TCP retransmits for a NIC that does not count that itself. */
  #addResent(reports: readonly LapReport[]): void {
    const provider = this.#opened.session?.path.routes.provider;
    if (provider === undefined || !isSockets(provider)) return;
    const retransmits = reports.reduce((sum, { resent }) => sum + (resent ?? 0), 0);
    this.#counted.push({ nics: 0, txBytes: 0, rxBytes: 0, retransmits, drops: 0 });
  }

  #tell(interval: Interval, reason?: string): void {
    if (this.#world.rank !== 0) return;
    for (const [key, { index, last }] of this.#cells) {
      const { histogram } = this.#ledger!.cell(index);
      if (histogram.count === 0) continue;
      const factor = last.nanoseconds!.mean / histogram.mean;
      const { perPeer: _, perRank: __, path: ___, ...subject } = subjectOf(last);
      const checked = this.#checked.get(key)!;
      const told = { ...subject, ...scaled(last, factor), checked };
      // Counters belong to all rows: the first that is told has them.
      const counted = this.#counted.splice(0);
      const counters = counted.length === 0 ? undefined : addTotals(counted);
      const row = intervalRow(told, this.#ledger!, index, interval, counters);
      const outcome = reason === undefined ? row.outcome : 'aborted';
      this.#course.listener.row({ ...row, outcome, ...(reason !== undefined && { reason }) });
    }
    if (this.#bad?.nanoseconds === null) this.#course.listener.row(subjectOf(this.#bad));
  }
}

const shiftedBy = (report: LapReport, ms: number): LapReport => ({
  ...report,
  pauses: report.pauses.map((pause) => ({ ...pause, atMs: pause.atMs - ms })),
});
