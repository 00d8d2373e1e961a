import { randomInt } from 'node:crypto';
import type { Engine } from '../engine/engine.js';
import type { Mark, Plan } from '../plan/plan.js';
import type { Diagnosis } from '../results/finding.js';
import type { Path } from '../results/path.js';
import { skippedRow } from '../results/rows.js';
import type { Row } from '../results/schema.js';
import { pacingFor } from '../session/pacing.js';
import type { Session } from '../session/session.js';
import type { Settings } from '../settings/table.js';
import { Against, sameSubject } from './against.js';
import type { PlanBenchmark, PlanSituation, Turn } from './benchmark.js';
import { type Column, columnsOf } from './columns.js';
import { type Cell, deviceOf, fitCells, prepareEngines } from './fitting.js';
import { gatherSamples } from './gather-samples.js';
import { type PlanJob, situationOf, turnsOf } from './job.js';
import { MarkedTimes } from './marked-times.js';
import { isNoisyRow, type RowSubject, rowOf, type TurnSamples } from './row.js';
import { type Count, calibrate } from './timing.js';
import { type Checked, seedOfCheck, verifyTimed } from './verify.js';

/** What rank 0 is told while a benchmark runs. */
export interface Listener {
  /** Before the first row, on rank 0: what is wrong with the hosts and does not stop the job. */
  warned?(text: string): void;
  /** On rank 0: what a rank is doing that takes long, before the first row. */
  said?(rank: number, text: string): void;
  /** The row in work, and how many there will be. */
  starting(row: { index: number; total: number; column: string; bytes: number }): void;
  /** Once per row, in order. */
  row(row: Row): void;
  /** In its place for rows that come together; where absent, they come one by one. */
  rows?(rows: readonly Row[]): void;
  /** Of benchmarks that look for the guilty: once, at the end. */
  diagnosed?(diagnosis: Diagnosis): void;
}

/** Runs one benchmark on every rank of a session. Only rank 0's listener hears of rows. */
export async function runBenchmark(
  job: PlanJob,
  session: Session,
  listener: Listener,
  iface?: string,
): Promise<void> {
  const skip = (column: Column, reason: string, bytes?: number) => {
    const size = bytes === undefined ? {} : { bytes };
    if (session.world.rank === 0)
      listener.row(skippedRow({ column: column.name, ...size, reason }));
  };
  const { todo, misfits, rows } = await prepareRows(job, session, skip);
  const row = (one: Row) => listener.row(one);
  await using against = await Against.open({ job, session, rows, cells: todo, iface, row });
  const total = todo.length;
  for (const [index, cell] of todo.entries()) {
    const { bytes, column } = cell;
    listener.starting({ index, total, column: column.name, bytes });
    const measured = await rows.measure(column, bytes);
    if (measured) listener.row(measured);
    // Smallest sizes first: after the last column that does the same with as many bytes, all of them.
    if (sameSubject(cell, todo[index + 1])) continue;
    await against?.compare(todo.filter((other) => sameSubject(cell, other)));
  }
  for (const { column, bytes, reason } of misfits) skip(column, reason, bytes);
}

type Skip = (column: Column, reason: string, bytes?: number) => void;

/** Makes the buffers of all rows that can run. Whole columns that cannot are skipped; `misfits` are single rows. */
export async function prepareRows(job: PlanJob, session: Session, skip: Skip) {
  const columns = runnable(job, session, skip);
  const { cells, misfits } =
    columns.length === 0 ? { cells: [], misfits: [] } : await fitCells(job, columns, session);
  const todo = cells.length === 0 ? [] : await prepareCells(job, session, cells, skip);
  const runSeed = await session.world.broadcast('seed', randomInt(2 ** 40));
  return { todo, misfits, rows: new RowRunner(job, session, runSeed) };
}

/** The columns that can run at all. */
function runnable({ benchmark, settings }: PlanJob, session: Session, skip: Skip): Column[] {
  const { device } = session;
  const why = device !== undefined && 'unavailable' in device ? device.unavailable : undefined;
  return columnsOf(benchmark, settings.columns).filter((column) => {
    if (column.memory.id === 'pinned' || deviceOf(session)) return true;
    skip(column, `needs a GPU: ${why ?? 'none was opened'}`);
    return false;
  });
}

/** Makes the buffers. Where a GPU has less memory than it said, its columns are left out and the others go on. */
async function prepareCells(
  job: PlanJob,
  session: Session,
  cells: readonly Cell[],
  skip: Skip,
): Promise<readonly Cell[]> {
  const reason = await prepareEngines(job, session, cells);
  if (reason === undefined) return cells;
  const device = cells.filter(({ column }) => column.memory.id === 'device');
  for (const column of new Set(device.map((cell) => cell.column))) skip(column, reason);
  return cells.filter(({ column }) => column.memory.id === 'pinned');
}

/** What a row runs on this rank. */
export interface Ready {
  readonly column: Column;
  readonly bytes: number;
  readonly engine: Engine;
  readonly turns: readonly Turn[];
  readonly plans: readonly Plan[];
  /** Of each plan. */
  readonly marks: readonly (readonly Mark[] | undefined)[];
}

/** Measures rows; every rank makes the same calls, rank 0 gets the rows. */
export class RowRunner {
  readonly #job: PlanJob;
  readonly #benchmark: PlanBenchmark;
  readonly #session: Session;
  readonly #settings: Settings;
  readonly #runSeed: number;
  #checks = 0;

  constructor(job: PlanJob, session: Session, runSeed: number) {
    this.#job = job;
    this.#benchmark = job.benchmark;
    this.#session = session;
    this.#settings = job.settings;
    this.#runSeed = runSeed;
  }

  ready(column: Column, bytes: number): Ready {
    const turns = turnsOf(this.#job, this.#session.world.hosts, bytes, column);
    const situation = this.#situationOf(column, bytes);
    const plans = turns.map((turn) => turn.plan(situation));
    const marks = turns.map((turn) => turn.marks?.(situation));
    return { column, bytes, engine: this.#engineOf(column), turns, plans, marks };
  }

  async measure(column: Column, bytes: number): Promise<Row | undefined> {
    const { world } = this.#session;
    const ready = this.ready(column, bytes);
    const { engine, turns, plans } = ready;
    world.note(`${this.#benchmark.id} ${column.name} ${bytes} bytes`);
    const before = await this.#check(engine, turns, plans);
    for (const plan of plans) await this.warm(engine, plan);
    const count = await calibrate(engine, world, plans[0]!, this.#settings, plans.length);
    let { timed, path } = await this.#time(ready, count);
    // A noisy row is believed only if it is noisy twice.
    if (await this.#again(turns, timed)) ({ timed, path } = await this.#time(ready, count));
    const after = await this.#check(engine, turns, plans);
    const checked = await world.gather<Checked[]>('checked', [...before, ...after]);
    if (!checked || !timed) return undefined;
    return rowOf({ ...this.subject(ready), plans, timed, path, checked: checked.flat() });
  }

  /** What a row is about, whatever comes out. */
  subject({ column, bytes, engine, turns }: Ready): RowSubject {
    const { links, wiring, burstBytes, world } = this.#session;
    const stagedBecause =
      column.memory.id === 'device' ? deviceOf(this.#session)?.stagedBecause : undefined;
    return {
      ...{ job: this.#job, column, bytes, turns, stagedBecause },
      ...{ memory: engine.memory, links, wiring, burstBytes, hosts: world.hosts },
    };
  }

  #engineOf({ memory }: Column): Engine {
    const engine = memory.id === 'device' ? deviceOf(this.#session) : this.#session.engine;
    if (!engine) throw new TypeError('no GPU was opened');
    return engine;
  }

  #situationOf(column: Column, bytes: number): PlanSituation {
    const { world, fabric } = this.#session;
    const operationBytes = this.#benchmark.operationBytes?.(
      situationOf(this.#job, world.hosts, bytes, column),
    );
    const pacing = pacingFor(fabric, this.#settings, world.size, operationBytes);
    return {
      rank: world.rank,
      channels: fabric.channels.length,
      strategy: column.strategy,
      chunkBytes: this.#benchmark.wholeMessages ? Math.max(1, bytes) : pacing.chunkBytes,
      window: pacing.window,
    };
  }

  async #check(engine: Engine, turns: readonly Turn[], plans: readonly Plan[]): Promise<Checked[]> {
    if (!this.#settings.check) return [];
    const found: Checked[] = [];
    for (const [index, turn] of turns.entries()) {
      found.push((await this.verify(engine, turn, plans[index]!)).checked);
    }
    return found;
  }

  /** One verified iteration, and how long it took on this rank. */
  verify(engine: Engine, turn: Turn, plan: Plan) {
    return verifyTimed(engine, turn.traffic, plan, this.nextSeed());
  }

  /** Of the next check; the same on every rank. */
  nextSeed(): number {
    return seedOfCheck(this.#runSeed, this.#checks++);
  }

  async warm(engine: Engine, plan: Plan): Promise<void> {
    const { warmup } = this.#settings;
    if (warmup > 0) await engine.run(plan, { iterations: warmup });
  }

  /** Every turn's samples and the path of all of them, on rank 0. */
  async #time(
    { engine, plans, ...ready }: Ready,
    count: Count,
  ): Promise<{ timed: TurnSamples[] | undefined; path: Path | undefined }> {
    const own: Float64Array[] = [];
    const times = new MarkedTimes(ready);
    const { world, path: meter } = this.#session;
    // Where rank 0 has the clock, what the others measured is waiting for their turn.
    const counts = this.#benchmark.clock === 'slowest' || world.rank === 0;
    const loops = plans.map((plan) => ({ plan, iterations: count.iterations }));
    const { proof } = await meter.around(loops, async () => {
      for (const [turn, plan] of plans.entries()) {
        const samples = await engine.run(plan, { ...count, ...times.options(turn) });
        own.push(counts ? samples : new Float64Array());
      }
    });
    const all = await gatherSamples(world, own, Math.ceil(count.iterations / count.batch));
    return { timed: await times.gather(world, all, count.batch), path: proof?.path };
  }

  #again(turns: readonly Turn[], timed: TurnSamples[] | undefined): Promise<boolean> {
    const noisy = timed !== undefined && isNoisyRow(this.#benchmark, turns, timed);
    return this.#session.world.broadcast('noisy', noisy);
  }
}
