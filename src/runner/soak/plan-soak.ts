import { LinkWatch, type SeenDown } from '../../session/path/link-watch.js';
import type { PathTally } from '../../session/path/path-meter.js';
import { Pulse } from '../../session/path/pulse.js';
import type { Session } from '../../session/session.js';
import { stallAfterMs } from '../../settings/soak.js';
import type { PlanJob } from '../job.js';
import { prepareRows, type Ready, type RowRunner } from '../runner.js';
import type { Checked } from '../verify.js';
import { withLinks } from './blame-links.js';
import type { Course, Interval } from './course.js';
import { type Lap, type LapReport, runLap } from './lap.js';
import { lapCount } from './lap-count.js';
import { Ledger } from './ledger.js';
import { soakRow } from './soak-row.js';

/** What rank 0 decides after each lap. */
type Step = { readonly lap: Lap } | { readonly more: boolean };

interface Verified {
  readonly checked: Checked;
  readonly report: LapReport;
}

/** Of an interval, what verifying may take. */
const verifyShare = 0.1;

/** Soaks plans over one set of connections. Every rank makes the same calls in the same order. */
export class PlanSoak implements AsyncDisposable {
  readonly #job: PlanJob;
  readonly #session: Session;
  readonly #course: Course;
  readonly #rows: RowRunner;
  readonly #cells: readonly Ready[];
  readonly #turns: readonly { readonly cell: number; readonly turn: number }[];
  readonly #pulse: Pulse;
  /** Longer than a loop may stand still: whoever gives up in it says more than those who miss its report. */
  readonly #patient: { readonly timeoutMs: number };
  #ledger: Ledger | undefined;
  #checked: Checked[][] = [];
  #laps = 0;
  #verified = 0;
  #verifyMs = 0;

  private constructor(
    job: PlanJob,
    session: Session,
    course: Course,
    rows: RowRunner,
    cells: Ready[],
  ) {
    this.#job = job;
    this.#session = session;
    this.#course = course;
    this.#rows = rows;
    this.#cells = cells;
    this.#turns = cells.flatMap(({ turns }, cell) => turns.map((_, turn) => ({ cell, turn })));
    this.#patient = { timeoutMs: 2 * job.settings.timeoutMs + 2000 };
    const { path, world } = session;
    const own = path.routes.nics.filter(
      (_, rank) => path.routes.hostOf[rank] === path.routes.hostOf[world.rank],
    );
    const links = path.counters && new LinkWatch(own.flat(), performance.now());
    this.#pulse = new Pulse(links, stallAfterMs(0, undefined));
  }

  /** Makes the buffers, and runs every plan a few times: what is usual is known before anything is timed. */
  static async open(job: PlanJob, session: Session, course: Course): Promise<PlanSoak> {
    const { todo, misfits, rows } = await prepareRows(job, session, course.skip);
    for (const { column, bytes, reason } of misfits) course.skip(column, reason, bytes);
    const cells = todo.map(({ column, bytes }) => rows.ready(column, bytes));
    const soak = new PlanSoak(job, session, course, rows, cells);
    session.world.note(`soak of ${job.benchmark.id}`);
    await soak.#naming(soak.#warm());
    return soak;
  }

  /** Runs one interval. Resolves with false when the soak is over. */
  interval(interval: Interval): Promise<boolean> {
    return this.#naming(this.#run(interval));
  }

  /** What fails is told with the link that is down, if one is. */
  async #naming<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw await withLinks(error, this.#session.world, this.#pulse);
    }
  }

  async #warm(): Promise<void> {
    const { usual } = this.#course;
    for (const place of this.#turns) {
      const { engine, plans } = this.#cells[place.cell]!;
      await this.#rows.warm(engine, plans[place.turn]!);
      const [took] = await engine.run(plans[place.turn]!, { iterations: 1 });
      const key = this.#keyOf(place);
      if (usual.of(key) === undefined) usual.learn(key, took!);
    }
  }

  async #run(interval: Interval): Promise<boolean> {
    const { world, path } = this.#session;
    if (this.#turns.length === 0) return false;
    const places = { hosts: world.hosts, nics: path.routes.nics };
    const { clock } = this.#job.benchmark;
    this.#ledger = world.rank === 0 ? new Ledger(clock, places, this.#course) : undefined;
    this.#checked = this.#cells.map(() => []);
    const tallies = this.#cells.map(() => path.tally());
    await this.#verify();
    for (let laps = 0; ; laps++) {
      const step = await world.broadcast<Step>('soak', this.#next(interval, laps), this.#patient);
      if ('lap' in step) {
        await this.#lap(step.lap, tallies[step.lap.cell]!);
        continue;
      }
      if (!step.more) await this.#verify();
      await this.#close(tallies, interval, step.more);
      return step.more;
    }
  }

  /** Rank 0's: what is known of an interval that did not come to its end. */
  abandon(interval: Interval, reason: string): void {
    const ledger = this.#ledger;
    if (!ledger) return;
    this.#noteDown(this.#pulse.down(performance.now()));
    ledger.settle();
    for (const [cell, ready] of this.#cells.entries()) {
      const subject = this.#rows.subject(ready);
      const row = soakRow({ ledger, cell, subject, checked: this.#checked[cell]!, interval });
      if (row) this.#course.listener.row({ ...row, outcome: 'aborted', reason });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pulse[Symbol.dispose]();
  }

  #keyOf({ cell, turn }: { cell: number; turn: number }): string {
    const { column, bytes } = this.#cells[cell]!;
    return `${column.name} ${bytes} ${turn}`;
  }

  /** On rank 0; the others take its answer. */
  #next(interval: Interval, laps: number): Step {
    if (this.#session.world.rank !== 0) return { more: false };
    const course = this.#course;
    const wrong = this.#checked.flat().some((one) => one.wrong > 0);
    // Without a lap there is no row that could tell what verifying has found.
    if (laps > 0 && (course.isStopped() || wrong || interval.isOver())) {
      return { more: !wrong && course.goesOn() };
    }
    const place = this.#turns[this.#laps++ % this.#turns.length]!;
    const key = this.#keyOf(place);
    const usualNs = course.usual.of(key)!;
    const shareMs = interval.milliseconds / 2 / this.#turns.length;
    const { settings } = this.#job;
    const budgetMs = Math.min(settings.budgetMs, shareMs);
    const count = lapCount(
      course.usual.slowest(key)!,
      { ...settings, budgetMs },
      this.#session.world.size,
    );
    const silenceMs = stallAfterMs((usualNs * count.batch) / 1e6, course.settings.stall);
    return { lap: { ...place, count, silenceMs: Math.max(1, silenceMs) } };
  }

  async #lap(lap: Lap, tally: PathTally): Promise<void> {
    const { world, path } = this.#session;
    const ready = this.#cells[lap.cell]!;
    const place = {
      ...{ ready, tally, pulse: this.#pulse },
      counts: this.#job.benchmark.clock === 'slowest' || world.rank === 0,
      first: path.counters !== undefined,
    };
    const startedAt = Date.now();
    const report = await runLap(lap, place);
    const stop = this.#course.stop.signal;
    const reports = await world.gather<LapReport>('lap', { ...report, stop }, this.#patient);
    if (!reports) return;
    const key = this.#keyOf(lap);
    const { pair } = ready.turns[lap.turn]!;
    const done = { lap, reports, at: startedAt, pair };
    const { stalls, medianNs, meanNs } = this.#ledger!.add(done, this.#course.usual.of(key)!);
    this.#course.usual.learn(key, medianNs, meanNs);
    this.#course.heard(reports, stalls);
  }

  /** Verifies some turns, and in the next interval the next ones: all of them where that takes little time. */
  async #verify(): Promise<void> {
    if (!this.#job.settings.check) return;
    const { world } = this.#session;
    const affordable = Math.floor((this.#course.settings.everyMs * verifyShare) / this.#verifyMs);
    const most = Math.max(1, Math.min(this.#turns.length, affordable || 1));
    const turns = await world.broadcast('turns to verify', most, this.#patient);
    for (let i = 0; i < turns; i++) {
      const place = this.#turns[this.#verified++ % this.#turns.length]!;
      await this.#verifyTurn(place);
    }
  }

  async #verifyTurn(place: { cell: number; turn: number }): Promise<void> {
    const { engine, turns, plans } = this.#cells[place.cell]!;
    const [startedAt, startMs] = [Date.now(), performance.now()];
    const turn = turns[place.turn]!;
    const { checked, samples } = await this.#rows.verify(engine, turn, plans[place.turn]!);
    this.#verifyMs = performance.now() - startMs;
    const seen = this.#pulse.take(startMs);
    const report = { samples, wallMs: this.#verifyMs, silences: [], ...seen };
    const stop = this.#course.stop.signal;
    const own: Verified = { checked, report: { ...report, stop } };
    const all = await this.#session.world.gather<Verified>('verified', own, this.#patient);
    if (!all) return;
    this.#checked[place.cell]!.push(...all.map((one) => one.checked));
    const reports = all.map((one) => one.report);
    // Bytes are looked at as they arrive, which takes time of its own.
    const key = `verified ${this.#keyOf(place)}`;
    const usualNs = this.#course.usual.of(key) ?? samples[0]!;
    this.#course.usual.learn(key, samples[0]!);
    const done = { reports, at: startedAt, pair: turn.pair, cell: place.cell };
    this.#course.heard(reports, this.#ledger!.addVerified(done, usualNs));
  }

  async #close(tallies: readonly PathTally[], interval: Interval, more: boolean): Promise<void> {
    const { world } = this.#session;
    // What is down at the end is told then; otherwise when it comes up.
    const down = await world.gather<SeenDown[]>(
      'links',
      more ? [] : this.#pulse.down(performance.now()),
    );
    if (down) for (const [rank, seen] of down.entries()) this.#noteDown(seen, rank);
    this.#ledger?.settle();
    for (const [cell, tally] of tallies.entries()) {
      const proof = await tally.settle();
      const ledger = this.#ledger;
      if (!ledger) continue;
      const subject = this.#rows.subject(this.#cells[cell]!);
      const checked = this.#checked[cell]!;
      const row = soakRow({ ledger, cell, subject, checked, interval, path: proof?.path });
      if (row) this.#course.listener.row(row);
    }
  }

  /** Times are from now on backwards. */
  #noteDown(seen: readonly SeenDown[], rank = 0): void {
    this.#ledger?.addLinks(seen, rank, Date.now());
  }
}
