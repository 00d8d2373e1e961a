import { randomInt } from 'node:crypto';
import { cpus } from 'node:os';
import { figuresOf, oneToEachBytes } from '../measure/figures.js';
import { summarize } from '../measure/statistics.js';
import { allowedLineRateGbps, boundOfTraffic } from '../plan/bound.js';
import { oneToEach, oneToEachTraffic } from '../plan/patterns/one-to-each.js';
import type { Plan } from '../plan/plan.js';
import { multi, type Strategy, single } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import { transfersOf } from '../plan/transfers.js';
import { measuredRow, skippedRow } from '../results/rows.js';
import type { Breakdown, Row } from '../results/schema.js';
import { defineBenchmark, type OwnOption, type Procedure } from './benchmark.js';
import { gatherAvailable, misfit, type Need } from './memory-plan.js';
import { chooseProducers, type Producers, producerOption } from './producers.js';
import { type Asking, breakdownOf, type Mode, runMode } from './proxy-modes.js';
import { verifyMode } from './proxy-verify.js';
import { pacingFor, type Session } from './session.js';
import { columnsOf, sizesOf } from './settings.js';
import { type Count, calibrate } from './timing.js';
import { peersOf } from './turns.js';
import { addChecked, type Checked, describeWrong, seedOfCheck } from './verify.js';

interface ProxyColumn {
  readonly name: string;
  readonly strategy: Strategy;
  readonly mode: Mode;
}

const modes: readonly (readonly [Mode, string])[] = [
  ['baseline', ''],
  ['blocking', 'Blocking'],
  ['nbi', 'NBI'],
];
const proxyColumns: readonly ProxyColumn[] = [single, multi].flatMap((strategy) =>
  modes.map(([mode, title]) => ({ name: `${strategy.title}${title}`, strategy, mode })),
);

const usualRequests = 8;
const wholeNumber = (most: number) => (text: string) => {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= most) return value;
  throw new Error(`It must be a whole number from 1 to ${most}.`);
};

const ownOptions: readonly OwnOption[] = [
  {
    flags: '--requests <count>',
    key: 'requests',
    summary: `writes per iteration, dealt to the peers in turn (default: ${usualRequests})`,
    parse: wholeNumber(1024),
  },
  {
    flags: '--producers <count>',
    key: 'producers',
    summary: 'blocks, or CPU threads, that ask for them (default: 1)',
    parse: wholeNumber(1024),
  },
  producerOption,
];

export const proxy = defineBenchmark({
  id: 'proxy',
  summary: 'A kernel (or CPU threads) asks a proxy thread for writes, beside the CPU’s own.',
  ranks: { min: 2 },
  needs: ['rma', 'immediate'],
  columns: proxyColumns,
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 64 * 2 ** 20, factor: 4 },
  options: ownOptions,
  fabric: true,
  run: async (procedure) => {
    const producers = await chooseProducers(procedure.world, procedure.settings);
    await new ProxyRows(procedure, producers).run();
  },
});

/** So often do the modes of a strategy take turns, so that whatever drifts drifts under all of them. */
const rounds = 5;
const tracedIterations = 50;

interface Measured {
  readonly samples: number[];
  readonly checked: Checked[];
  readonly breakdown?: Breakdown;
}

class ProxyRows {
  readonly #procedure: Procedure & { session: Session };
  readonly #producers: Producers;
  readonly #requests: number;
  readonly #producerCount: number;
  #runSeed = 0;
  #checks = 0;

  constructor(procedure: Procedure & { session: Session }, producers: Producers) {
    const own = procedure.settings.own ?? {};
    this.#procedure = procedure;
    this.#producers = producers;
    this.#requests = (own.requests as number | undefined) ?? usualRequests;
    this.#producerCount = Math.min(this.#requests, (own.producers as number | undefined) ?? 1);
  }

  async run(): Promise<void> {
    const { world, settings, session, listener } = this.#procedure;
    this.#runSeed = await world.broadcast('seed', randomInt(2 ** 40));
    const available = await gatherAvailable(world);
    const sizes = sizesOf(settings);
    const reasons = new Map(
      sizes.map((bytes) => [bytes, misfit(world, this.#needs(bytes), available)]),
    );
    const fitting = sizes.filter((bytes) => reasons.get(bytes) === undefined);
    if (fitting.length > 0) {
      await session.engine.prepare(this.#needs(fitting.at(-1)!)[world.rank]!);
    }
    for (const bytes of sizes) {
      const reason = reasons.get(bytes);
      if (reason === undefined) await this.#measureSize(bytes, fitting);
      else if (world.rank === 0) {
        for (const { name: column } of this.#columns()) {
          listener.row(skippedRow({ column, bytes, reason }));
        }
      }
    }
  }

  #columns(): ProxyColumn[] {
    const names = columnsOf(proxy, this.#procedure.settings.columns).map(({ name }) => name);
    return proxyColumns.filter(({ name }) => names.includes(name));
  }

  #traffic(bytes: number): Traffic {
    const world = this.#procedure.world.size;
    return oneToEachTraffic({ world, from: 0, to: peersOf(world), bytes, buffers: this.#requests });
  }

  #needs(bytes: number): Need[] {
    const traffic = this.#traffic(bytes);
    return Array.from({ length: this.#procedure.world.size }, (_, rank) => ({
      sourceBytes: Math.max(64, traffic.sourceBytes(rank)),
      targetBytes: Math.max(64, traffic.targetBytes(rank)),
    }));
  }

  async #measureSize(bytes: number, sizes: readonly number[]): Promise<void> {
    const { listener } = this.#procedure;
    const columns = this.#columns();
    for (const strategy of new Set(columns.map((column) => column.strategy))) {
      const group = columns.filter((column) => column.strategy === strategy);
      const index = sizes.indexOf(bytes) * columns.length + columns.indexOf(group[0]!);
      const total = sizes.length * columns.length;
      listener.starting({ index, total, column: group[0]!.name, bytes });
      for (const row of await this.#measureGroup(bytes, strategy, group)) listener.row(row);
    }
  }

  /** The modes of one strategy at one size, in turns. Rows on rank 0 only. */
  async #measureGroup(bytes: number, strategy: Strategy, group: readonly ProxyColumn[]) {
    const { world, settings, session } = this.#procedure;
    const { engine, fabric } = session;
    const channels = fabric.channels.length;
    const traffic = this.#traffic(bytes);
    const { chunkBytes, window } = pacingFor(fabric, settings, world.size);
    const job = { world: world.size, from: 0, to: peersOf(world.size), bytes };
    const situation = { rank: world.rank, channels, strategy, chunkBytes, window };
    const plan = oneToEach({ ...job, buffers: this.#requests, ...situation });
    const asking = this.#asking(traffic, strategy, channels);
    world.note(`proxy ${strategy.title} ${bytes} bytes`);
    const results = new Map<Mode, Measured>(
      group.map(({ mode }) => [mode, { samples: [], checked: [] }]),
    );
    await this.#checkAll(results, traffic, plan, asking);
    const count = await calibrate(engine, world, plan, settings, 1);
    await this.#timeAll(results, plan, asking, count);
    const breakdowns = await this.#traceAll([...results.keys()], plan, asking);
    await this.#checkAll(results, traffic, plan, asking);
    const checked = await world.gather(
      'checked',
      [...results.values()].map((one) => one.checked),
    );
    if (!checked) return [];
    const baseline = results.get('baseline')?.samples;
    return group.map(({ name, mode }, index) => {
      const { samples } = results.get(mode)!;
      const breakdown = breakdowns.get(mode);
      return this.#row({
        name,
        strategy,
        mode,
        bytes,
        traffic,
        samples,
        batch: count.batch,
        checked: checked.flatMap((ofRank) => ofRank[index]!),
        baseline,
        ...(breakdown && { breakdown }),
      });
    });
  }

  #asking(traffic: Traffic, strategy: Strategy, channels: number): Asking {
    const { world } = this.#procedure;
    const { bootId } = world.members[0]!;
    const here = world.members.filter((member) => member.bootId === bootId).length;
    return {
      producers: this.#producers,
      count: this.#producerCount,
      transfers: transfersOf(traffic, 0, strategy, channels),
      crowded: this.#producers.kind === 'cpu' && here + this.#producerCount > cpus().length,
    };
  }

  async #checkAll(results: Map<Mode, Measured>, traffic: Traffic, plan: Plan, asking: Asking) {
    if (!this.#procedure.settings.check) return;
    const { engine } = this.#procedure.session;
    for (const [mode, { checked }] of results) {
      const seed = seedOfCheck(this.#runSeed, this.#checks++);
      checked.push(await verifyMode(engine, traffic, plan, mode, asking, seed));
    }
  }

  async #timeAll(results: Map<Mode, Measured>, plan: Plan, asking: Asking, count: Count) {
    const { engine } = this.#procedure.session;
    const { warmup } = this.#procedure.settings;
    const perRound = Math.max(1, Math.round(count.iterations / count.batch / rounds));
    const part: Count = {
      iterations: perRound * count.batch,
      batch: count.batch,
      expectedMs: count.expectedMs / rounds,
    };
    const warm: Count = { iterations: warmup, batch: 1, expectedMs: 0 };
    for (const mode of warmup > 0 ? results.keys() : []) {
      await runMode(engine, plan, mode, warm, asking);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [mode, { samples }] of results) {
        const run = await runMode(engine, plan, mode, part, asking);
        samples.push(...[...run.samples].map(Math.round));
      }
    }
  }

  async #traceAll(used: readonly Mode[], plan: Plan, asking: Asking) {
    const found = new Map<Mode, Breakdown>();
    const count: Count = { iterations: tracedIterations, batch: 1, expectedMs: 0 };
    for (const mode of used) {
      if (mode === 'baseline') continue;
      const { engine } = this.#procedure.session;
      const traced = await runMode(engine, plan, mode, count, asking, { trace: true });
      if (engine.rank === 0) found.set(mode, breakdownOf(traced));
    }
    return found;
  }

  #row(parts: {
    name: string;
    strategy: Strategy;
    mode: Mode;
    bytes: number;
    traffic: Traffic;
    samples: number[];
    batch: number;
    checked: readonly Checked[];
    baseline: number[] | undefined;
    breakdown?: Breakdown;
  }): Row {
    const { session, world } = this.#procedure;
    const { strategy, mode, bytes, samples, batch, baseline, breakdown } = parts;
    const meanNanoseconds = summarize(samples, batch).mean;
    const checked = addChecked(parts.checked);
    const loss =
      mode === 'baseline' || !baseline
        ? undefined
        : 100 * (1 - summarize(baseline, batch).mean / meanNanoseconds);
    return measuredRow({
      column: parts.name,
      bytes,
      samples,
      batch,
      figures: figuresOf({
        bytes: oneToEachBytes(bytes, this.#requests),
        meanNanoseconds,
        allowedGbps: allowedLineRateGbps(strategy, session.links),
        boundNanoseconds: boundOfTraffic(parts.traffic, strategy, session.links, world.hosts)
          .nanoseconds,
      }),
      labels: {
        memory: session.engine.memory,
        ...(mode !== 'baseline' && { producer: this.#producers.kind }),
      },
      checked: { bytes: checked.bytes, wrong: checked.wrong },
      ...(checked.wrong > 0 && { failure: describeWrong(checked) }),
      ...(loss !== undefined && { lossPercent: loss }),
      ...(breakdown && { breakdown }),
    });
  }
}
