import { blame, type DownLink, type Places, ranksOf } from '../../analysis/soak/blame.js';
import { Histogram } from '../../measure/histogram.js';
import { median } from '../../measure/quantile.js';
import { slowestPerIteration } from '../../measure/statistics.js';
import { mean } from '../../measure/summary.js';
import type { Row } from '../../results/schema.js';
import type { LinkDown, Stall } from '../../results/soak.js';
import type { SeenDown } from '../../session/path/link-watch.js';
import { type SoakSettings, type StallLimit, stallAfterMs } from '../../settings/soak.js';
import type { PlanBenchmark } from '../benchmark.js';
import type { Lap, LapReport } from './lap.js';
import { type Found, longBarriers, longSamples } from './long-times.js';

/** Of an interval; more are counted. */
export const mostStalls = 20;
const mostLinks = 200;
const mostRecent = 50;
/** How many loops decide what is usual. */
const remembered = 15;
/** How many decide how long the next one takes. */
const planned = 3;

/** What one row of an interval is made of. */
export class CellLedger {
  readonly histogram = new Histogram();
  iterations = 0;
  batch = 1;
  stallCount = 0;
  stalls: Stall[] = [];

  addStall(stall: Stall): void {
    this.stallCount++;
    this.stalls.push(stall);
    if (this.stalls.length <= mostStalls) return;
    this.stalls.sort((a, b) => b.milliseconds - a.milliseconds).pop();
  }

  takeStalls(from: CellLedger): void {
    const counted = this.stallCount + from.stallCount;
    for (const stall of from.stalls.splice(0)) this.addStall(stall);
    this.stallCount = counted;
  }
}

/** A lap as rank 0 has it: the reports of all ranks. */
export interface LapDone {
  readonly lap: Lap;
  readonly reports: readonly LapReport[];
  /** When the loop began on rank 0, in milliseconds of the epoch. */
  readonly at: number;
  readonly pair?: readonly [number, number] | undefined;
}

/** What is usual for each turn, from its last few loops: nanoseconds of one iteration. */
export class Usual {
  readonly #medians = new Map<string, number[]>();
  readonly #means = new Map<string, number[]>();

  of(key: string): number | undefined {
    const known = this.#medians.get(key);
    return known && median(known);
  }

  /** For planning: on a busy machine a few long iterations take most of the time. */
  slowest(key: string): number | undefined {
    const known = this.#means.get(key);
    return known && Math.max(...known);
  }

  learn(key: string, medianNs: number, meanNs = medianNs): void {
    const add = (to: Map<string, number[]>, value: number, most: number) =>
      to.set(key, [...(to.get(key) ?? []), value].slice(-most));
    add(this.#medians, medianNs, remembered);
    add(this.#means, meanNs, planned);
  }
}

interface LedgerOptions {
  readonly settings: Pick<SoakSettings, 'stall'>;
  /** The last links that were down, of earlier intervals, too. */
  readonly recent: LinkDown[];
  /** Links that no row has told of yet, of earlier intervals, too. */
  readonly untold: LinkDown[];
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Rank 0's account of one interval. */
export class Ledger {
  readonly startedAt = Date.now();
  readonly cells: CellLedger[] = [];
  readonly #clock: PlanBenchmark['clock'];
  readonly #places: Places;
  readonly #limit: StallLimit | undefined;
  readonly #recent: LinkDown[];
  readonly #untold: LinkDown[];

  constructor(clock: PlanBenchmark['clock'], places: Places, options: LedgerOptions) {
    this.#clock = clock;
    this.#places = places;
    this.#limit = options.settings.stall;
    this.#recent = options.recent;
    this.#untold = options.untold;
  }

  cell(index: number): CellLedger {
    this.cells[index] ??= new CellLedger();
    return this.cells[index];
  }

  /** Before rows are told: cells without a sample have none, so the first that has one tells of their stalls. */
  settle(): void {
    const telling = this.cells.find((cell) => cell && cell.histogram.count > 0);
    if (!telling) return;
    for (const cell of this.cells) {
      if (cell && cell.histogram.count === 0) telling.takeStalls(cell);
    }
  }

  /** Links belong to all rows: the first that is told has them. */
  takeLinks(): LinkDown[] {
    return this.#untold.splice(0);
  }

  /** Adds a lap's samples, links and stalls; returns the stalls, and median and mean of an iteration. */
  add(done: LapDone, usualNs: number): { stalls: Stall[]; medianNs: number; meanNs: number } {
    const { lap, reports } = done;
    const cell = this.cell(lap.cell);
    const { batch } = lap.count;
    const byRank = reports.map(({ samples }) => samples);
    const samples = this.#clock === 'slowest' ? slowestPerIteration(byRank) : [...byRank[0]!];
    for (const sample of samples) cell.histogram.add(sample / batch);
    cell.iterations += lap.count.iterations;
    cell.batch = batch;
    this.addReported(done);
    const links = this.#linksAt(done.at);
    const found = [
      ...longSamples(samples, byRank[0]!, usualNs * batch, this.#limit),
      ...longBarriers(reports, usualNs * batch, this.#limit),
    ];
    const stalls = found.map((one) => this.#stallOf(one, done, links));
    for (const stall of stalls) cell.addStall(stall);
    return { stalls, medianNs: median(samples) / batch, meanNs: mean(samples) / batch };
  }

  /** Adds a row of a benchmark with its own procedure: its samples, and those of them that are stalls; no links. */
  addRow(
    done: Omit<LapDone, 'lap'>,
    row: Pick<Row, 'samples' | 'batch' | 'iterations'>,
    cell: number,
    usualNs: number,
  ): Stall[] {
    const own = this.cell(cell);
    const { samples, batch, iterations } = row;
    for (const sample of samples) own.histogram.add(sample / batch);
    own.iterations += iterations;
    own.batch = batch;
    const links = this.#linksAt(done.at);
    const found = longSamples(samples, samples, usualNs * batch, this.#limit);
    const stalls = found.map((one) => this.#stallOf(one, done, links));
    for (const stall of stalls) own.addStall(stall);
    return stalls;
  }

  /** A verified iteration is looked at as well, though not timed for the row. `usualNs` is that of verified ones. */
  addVerified(done: Omit<LapDone, 'lap'> & { cell: number }, usualNs: number): Stall[] {
    const [rank0] = done.reports;
    this.addReported(done);
    const links = this.#linksAt(done.at);
    const tookMs = rank0!.samples[0]! / 1e6;
    const extraMs = tookMs - usualNs / 1e6;
    if (extraMs < stallAfterMs(usualNs / 1e6, this.#limit)) return [];
    const span = { atMs: 0, milliseconds: tookMs };
    const stall = this.#stallOf({ during: 'verification', span, extraMs }, done, links);
    this.cell(done.cell).addStall(stall);
    return [stall];
  }

  /** Links that a rank saw down, with times from `at` on. */
  addLinks(seen: readonly SeenDown[], rank: number, at: number): void {
    const host = this.#places.hosts[rank]!;
    for (const { nic, atMs, milliseconds } of seen) {
      const ranks = ranksOf(this.#places, host, nic);
      const down = { at: iso(at + atMs), host, ranks, nic, milliseconds };
      if (this.#untold.length < mostLinks) this.#untold.push(down);
      this.#recent.push(down);
      if (this.#recent.length > mostRecent) this.#recent.shift();
    }
  }

  addReported({ reports, at }: Pick<LapDone, 'reports' | 'at'>): void {
    for (const [rank, { links }] of reports.entries()) this.addLinks(links, rank, at);
  }

  /** The last links that were down, as seen from a loop that began then: what they did may come later. */
  #linksAt(at: number): DownLink[] {
    return this.#recent.map(({ host, nic, at: from, milliseconds }) => ({
      ...{ host, nic, atMs: Date.parse(from) - at },
      milliseconds: milliseconds ?? at - Date.parse(from),
    }));
  }

  #stallOf(found: Found, done: Omit<LapDone, 'lap'>, links: readonly DownLink[]): Stall {
    const { reports, at, pair } = done;
    const { atMs, ...blamed } = blame({
      ...this.#places,
      ...{ ...found, pair, links },
      waits: reports.flatMap(({ silences }, rank) =>
        silences.map(({ startMs, ...silence }) => ({ rank, atMs: startMs, ...silence })),
      ),
      pauses: reports.flatMap(({ pauses }, rank) => pauses.map((pause) => ({ rank, ...pause }))),
    });
    const resent = reports.flatMap((report, rank): [string, number][] =>
      report.resent ? [[this.#places.hosts[rank]!, report.resent]] : [],
    );
    return {
      at: iso(at + atMs),
      milliseconds: Number(found.extraMs.toFixed(3)),
      during: found.during,
      ...(pair && { pair: [...pair] }),
      ...blamed,
      ...(resent.length > 0 && { resent: Object.fromEntries(resent.slice(0, 16)) }),
    };
  }
}
