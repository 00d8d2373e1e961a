import { randomInt } from 'node:crypto';
import type { Plan } from '../plan/plan.js';
import type { Diagnosis } from '../results/diagnosis/finding.js';
import { skippedRow } from '../results/rows.js';
import type { Row } from '../results/schema.js';
import type { Column, PlanBenchmark, Turn } from './benchmark.js';
import { gatherAvailable, misfit, type Need, needsOf } from './memory-plan.js';
import { isNoisyRow, rowOf, type TurnSamples } from './row.js';
import { pacingFor, type Session } from './session.js';
import { columnsOf, type Settings, sizesOf } from './settings.js';
import { type Count, calibrate } from './timing.js';
import { type Checked, seedOfCheck, verifyTurn } from './verify.js';

/** What rank 0 is told while a benchmark runs. */
export interface Listener {
  /** The row in work, and how many there will be. */
  starting(row: { index: number; total: number; column: string; bytes: number }): void;
  /** Once per row, in order. */
  row(row: Row): void;
  /** Of benchmarks that look for the guilty: once, at the end. */
  diagnosed?(diagnosis: Diagnosis): void;
}

const noDevice = 'needs a GPU: buffers in GPU memory are not available here';

/** Runs one benchmark on every rank of a session. Only rank 0's listener hears of rows. */
export async function runBenchmark(
  benchmark: PlanBenchmark,
  session: Session,
  settings: Settings,
  listener: Listener,
): Promise<void> {
  const wanted = columnsOf(benchmark, settings.columns);
  const columns = wanted.filter((column) => column.memory.id === 'pinned');
  if (session.world.rank === 0) {
    for (const { name, memory } of wanted) {
      if (memory.id === 'device') listener.row(skippedRow({ column: name, reason: noDevice }));
    }
  }
  if (columns.length === 0) return;
  const { fitting, misfits } = await sortSizes(benchmark, columns, session, settings);
  if (fitting.length > 0) await prepare(benchmark, columns, session, settings, fitting);
  const runSeed = await session.world.broadcast('seed', randomInt(2 ** 40));
  const rows = new RowRunner(benchmark, session, settings, runSeed);
  const todo = fitting.flatMap((bytes) => columns.map((column) => ({ bytes, column })));
  for (const [index, { bytes, column }] of todo.entries()) {
    listener.starting({ index, total: todo.length, column: column.name, bytes });
    const row = await rows.measure(column, bytes);
    if (row) listener.row(row);
  }
  if (session.world.rank !== 0) return;
  for (const [bytes, reason] of misfits) {
    for (const { name } of columns) listener.row(skippedRow({ column: name, bytes, reason }));
  }
}

async function sortSizes(
  benchmark: PlanBenchmark,
  columns: readonly Column[],
  { world }: Session,
  settings: Settings,
) {
  const available = await gatherAvailable(world);
  const fitting: number[] = [];
  const misfits = new Map<number, string>();
  for (const bytes of sizesOf(settings)) {
    const needs = needsOf(benchmark, columns, world.size, bytes, settings.buffers);
    const reason = misfit(world, needs, available);
    if (reason === undefined) fitting.push(bytes);
    else misfits.set(bytes, reason);
  }
  return { fitting, misfits };
}

/** One pair of buffers serves all sizes: the largest decides. */
async function prepare(
  benchmark: PlanBenchmark,
  columns: readonly Column[],
  { world, engine }: Session,
  settings: Settings,
  sizes: readonly number[],
): Promise<void> {
  const needs = sizes.map(
    (bytes) => needsOf(benchmark, columns, world.size, bytes, settings.buffers)[world.rank]!,
  );
  const most = (pick: (need: Need) => number) => Math.max(64, ...needs.map(pick));
  await engine.prepare({
    sourceBytes: most((need) => need.sourceBytes),
    targetBytes: most((need) => need.targetBytes),
  });
}

/** Measures rows; every rank makes the same calls, rank 0 gets the rows. */
class RowRunner {
  readonly #benchmark: PlanBenchmark;
  readonly #session: Session;
  readonly #settings: Settings;
  readonly #runSeed: number;
  #checks = 0;

  constructor(benchmark: PlanBenchmark, session: Session, settings: Settings, runSeed: number) {
    this.#benchmark = benchmark;
    this.#session = session;
    this.#settings = settings;
    this.#runSeed = runSeed;
  }

  async measure(column: Column, bytes: number): Promise<Row | undefined> {
    const { world, links, burstBytes } = this.#session;
    const { buffers } = this.#settings;
    const turns = this.#benchmark.turns({
      world: world.size,
      bytes,
      strategy: column.strategy,
      buffers,
    });
    const plans = turns.map((turn) => this.#planOf(turn, column, bytes));
    world.note(`${this.#benchmark.id} ${column.name} ${bytes} bytes`);
    const before = await this.#check(turns, plans);
    for (const plan of plans) await this.#warm(plan);
    const count = await calibrate(
      this.#session.engine,
      world,
      plans[0]!,
      this.#settings,
      plans.length,
    );
    let timed = await this.#time(plans, count);
    // A noisy row is believed only if it is noisy twice.
    if (await this.#again(timed)) timed = await this.#time(plans, count);
    const after = await this.#check(turns, plans);
    const checked = await world.gather<Checked[]>('checked', [...before, ...after]);
    if (!checked || !timed) return undefined;
    const { hosts } = world;
    const parts = { benchmark: this.#benchmark, column, bytes, links, hosts, turns, timed };
    const { memory } = this.#session.engine;
    return rowOf({ ...parts, memory, burstBytes, checked: checked.flat() });
  }

  #planOf(turn: Turn, { strategy }: Column, bytes: number): Plan {
    const { world, fabric } = this.#session;
    const { chunkBytes, window } = pacingFor(fabric, this.#settings, world.size);
    return turn.plan({
      rank: world.rank,
      channels: fabric.channels.length,
      strategy,
      chunkBytes: this.#benchmark.wholeMessages ? Math.max(1, bytes) : chunkBytes,
      window,
    });
  }

  async #check(turns: readonly Turn[], plans: readonly Plan[]): Promise<Checked[]> {
    if (!this.#settings.check) return [];
    const found: Checked[] = [];
    for (const [index, turn] of turns.entries()) {
      const seed = seedOfCheck(this.#runSeed, this.#checks++);
      found.push(await verifyTurn(this.#session.engine, turn.traffic, plans[index]!, seed));
    }
    return found;
  }

  async #warm(plan: Plan): Promise<void> {
    const { warmup } = this.#settings;
    if (warmup > 0) await this.#session.engine.run(plan, { iterations: warmup });
  }

  /** Every turn's samples, on rank 0. */
  async #time(plans: readonly Plan[], count: Count): Promise<TurnSamples[] | undefined> {
    const own: Float64Array[] = [];
    const { engine, world } = this.#session;
    // Where rank 0 has the clock, what the others measured is waiting for their turn.
    const counts = this.#benchmark.clock === 'slowest' || world.rank === 0;
    for (const plan of plans) {
      const samples = await engine.run(plan, count);
      own.push(counts ? samples : new Float64Array());
    }
    const all = await this.#session.world.gather('samples', own);
    return (
      all &&
      plans.map((_, turn) => ({
        batch: count.batch,
        byRank: all.map((ofRank) => ofRank[turn]!),
      }))
    );
  }

  #again(timed: TurnSamples[] | undefined): Promise<boolean> {
    const noisy = timed !== undefined && isNoisyRow(this.#benchmark, timed);
    return this.#session.world.broadcast('noisy', noisy);
  }
}
