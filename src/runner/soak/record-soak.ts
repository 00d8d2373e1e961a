import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../errors.js';
import type { Row } from '../../results/schema.js';
import { gatherFacts } from '../../session/host-facts.js';
import type { SoakSettings } from '../../settings/soak.js';
import type { World } from '../../world/world.js';
import { isPlanned, type OpenBenchmark } from '../benchmark.js';
import { openBenchmark } from '../open-benchmark.js';
import {
  headerOf,
  keepRun,
  type Recorded,
  type RecordOptions,
  refuseSmallWorld,
} from '../record-run.js';
import { Course, Interval, type SoakListener, type Stop } from './course.js';
import { OwnSoak } from './own-soak.js';
import { PlanSoak } from './plan-soak.js';

export interface SoakOptions extends RecordOptions {
  readonly listener: SoakListener;
  readonly soak: SoakSettings;
  readonly stop: Stop;
}

/**
 * Runs a benchmark on every rank until its time is over or somebody stops it; rank 0 keeps a row per interval. `tell`
 * gets the run on rank 0 before connections are closed: some providers crash when they close what is broken.
 */
export async function recordSoak<T>(
  options: SoakOptions,
  tell: (recorded: Recorded) => T,
): Promise<T | undefined> {
  const { job, world, soak, listener, out } = options;
  refuseSmallWorld(job.benchmark, world);
  world.hear((rank, text) => listener.said?.(rank, text));
  await using soaking = new Soak(options);
  const { session, record } = await soaking.open();
  const facts = await gatherFacts(world, session?.fabric.library.version);
  if (world.rank !== 0) return void (await soaking.run(listener).catch(tellFirst(world)));
  const header = headerOf(job, world, { session, record: { ...record, soak } }, facts);
  const recorded = await keepRun({ header, world, out, long: true }, (kept) =>
    soaking.run({
      starting: (next) => listener.starting(next),
      stalled: (stall) => listener.stalled?.(stall),
      row: (row) => {
        kept.rows([row]);
        listener.row(row);
      },
    }),
  );
  return tell(recorded);
}

const stopPollingMs = 200;

/** Some providers crash in a rank that still polls when a peer's endpoints vanish: all stop before this one closes. */
const tellFirst = (world: World) => async (error: unknown) => {
  await world.fail(error);
  await sleep(stopPollingMs);
  throw error;
};

/** One interval after the other, over the same connections or new ones. */
class Soak implements AsyncDisposable {
  readonly #options: SoakOptions;
  #opened: OpenBenchmark | undefined;
  #own: OwnSoak | undefined;

  constructor(options: SoakOptions) {
    this.#options = options;
  }

  /** What the benchmark runs on now; opened where it is not. */
  async open(): Promise<OpenBenchmark> {
    // A benchmark with a procedure of its own tells whoever soaks it of its rows.
    const listener = {
      starting: () => this.#own?.starting(),
      row: (row: Row) => this.#own?.row(row),
    };
    this.#opened ??= await openBenchmark({ ...this.#options, listener });
    return this.#opened;
  }

  async run(listener: SoakListener): Promise<void> {
    const { soak, stop, world } = this.#options;
    const course = new Course(soak, stop, listener, world.rank);
    let next: number | undefined = 0;
    while (next !== undefined) next = await this.#overOneSession(course, next);
  }

  /** Resolves with the number of the next interval, which wants new connections; undefined: the soak is over. */
  async #overOneSession(course: Course, first: number): Promise<number | undefined> {
    const { world, soak } = this.#options;
    await using soaked = await this.#soaked(await this.open(), course);
    for (let number = first; ; number++) {
      const interval = new Interval(course, number);
      const more = await soaked.interval(interval).catch((error) => {
        soaked.abandon(interval, messageOf(error));
        throw error;
      });
      if (more && !soak.reopen) continue;
      // The last answer that a peer waits for may still need this rank's endpoints.
      await world.barrier('end of the connections');
      await this[Symbol.asyncDispose]();
      return more ? number + 1 : undefined;
    }
  }

  async #soaked(opened: OpenBenchmark, course: Course): Promise<PlanSoak | OwnSoak> {
    const { job, world } = this.#options;
    const { benchmark } = job;
    if (opened.session && isPlanned(benchmark)) {
      return PlanSoak.open({ ...job, benchmark }, opened.session, course);
    }
    this.#own = new OwnSoak(opened, world, course);
    return this.#own;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
    this.#opened = undefined;
  }
}
