import { randomInt } from 'node:crypto';
import type { DeviceEngine } from '../../engine/device-engine.js';
import type { ServingEngine } from '../../engine/engine.js';
import { oneToEachTraffic } from '../../plan/patterns/one-to-each.js';
import { multi, type Strategy, single } from '../../plan/strategies.js';
import type { Traffic } from '../../plan/traffic.js';
import { skippedRow } from '../../results/rows.js';
import { defineBenchmark, type Procedure } from '../../runner/benchmark.js';
import { columnsOf } from '../../runner/columns.js';
import { deviceOf, gatherRooms, prepareDevice } from '../../runner/fitting.js';
import { gatherAvailable, gpuMisfit, misfit, type Need } from '../../runner/memory-plan.js';
import { sizesOf } from '../../runner/sizes.js';
import { seedOfCheck } from '../../runner/verify.js';
import type { Session } from '../../session/session.js';
import { option, wholeNumber } from '../../settings/option.js';
import { chooseProducers, type Producers, producerOption, refuseMissingGpu } from '../producers.js';
import { measureGroup } from './group.js';
import type { Mode } from './modes.js';

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

const options = {
  requests: option({
    flags: '--requests <count>',
    help: 'writes per iteration, over all peers',
    kind: wholeNumber(1, 1024),
    default: 8,
  }),
  producers: option({
    flags: '--producers <count>',
    help: 'blocks or CPU threads that issue them',
    kind: wholeNumber(1, 1024),
    default: 1,
  }),
  producer: producerOption,
};

type ProxyProcedure = Procedure<typeof options> & { session: Session };

export const proxy = defineBenchmark({
  id: 'proxy',
  summary: 'GPU-initiated writes through a CPU proxy thread, compared with CPU-initiated ones.',
  ranks: { min: 2 },
  columns: proxyColumns,
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 64 * 2 ** 20, factor: 4 },
  options,
  fabric: true,
  preflight: refuseMissingGpu,
  deviceMemory: ({ options }) => options.producer !== 'cpu',
  run: async (procedure) => {
    const producers = await chooseProducers(procedure.world, procedure);
    await new ProxyRows(procedure, producers).run();
  },
});

class ProxyRows {
  readonly #procedure: ProxyProcedure;
  readonly #producers: Producers;
  readonly #requests: number;
  readonly #producerCount: number;
  readonly #columns: readonly ProxyColumn[];
  #checks = 0;

  constructor(procedure: ProxyProcedure, producers: Producers) {
    const { requests, producers: count } = procedure.options;
    const names = columnsOf(proxy, procedure.settings.columns).map(({ name }) => name);
    this.#procedure = procedure;
    this.#producers = producers;
    this.#requests = requests;
    this.#producerCount = Math.min(requests, count);
    this.#columns = proxyColumns.filter(({ name }) => names.includes(name));
  }

  async run(): Promise<void> {
    const { world, session, settings, listener } = this.#procedure;
    const runSeed = await world.broadcast('seed', randomInt(2 ** 40));
    const device = this.#device();
    const engine = device ?? session.engine;
    const sizes = sizesOf(settings);
    const misfitOf = await this.#limits(device);
    const possible = sizes.filter((bytes) => misfitOf(bytes) === undefined);
    const refused = await this.#prepare(device, possible.at(-1));
    const fitting = refused === undefined ? possible : [];
    for (const [index, bytes] of fitting.entries()) {
      const done = index * this.#columns.length;
      await this.#measureSize(bytes, { engine, runSeed, done, sizes: fitting.length });
    }
    if (world.rank !== 0) return;
    for (const bytes of sizes.filter((one) => !fitting.includes(one))) {
      const reason = misfitOf(bytes) ?? refused!;
      for (const { name } of this.#columns) {
        listener.row(skippedRow({ column: name, bytes, reason }));
      }
    }
  }

  /** A GPU's requests are for its own memory where the fabric reaches that; else for pinned memory, which it fills. */
  #device(): DeviceEngine | undefined {
    const device = deviceOf(this.#procedure.session);
    return this.#producers.kind === 'gpu' && device?.memory === 'direct' ? device : undefined;
  }

  /** Why a size does not fit the memory that its data would lie in. */
  async #limits(device: DeviceEngine | undefined): Promise<(bytes: number) => string | undefined> {
    const { session, world } = this.#procedure;
    const rooms = device && (await gatherRooms(session));
    if (rooms) return (bytes) => gpuMisfit(world, this.#needs(bytes), rooms);
    const available = await gatherAvailable(world);
    return (bytes) => misfit(world, this.#needs(bytes), available);
  }

  /** Why the memory could not be had, the same on every rank. */
  async #prepare(
    device: DeviceEngine | undefined,
    mostBytes: number | undefined,
  ): Promise<string | undefined> {
    const { session, world } = this.#procedure;
    if (mostBytes === undefined) return undefined;
    const need = this.#needs(mostBytes)[world.rank]!;
    if (device) return prepareDevice(device, need);
    await session.engine.prepare(need);
    return undefined;
  }

  #traffic(bytes: number): Traffic {
    const world = this.#procedure.world.size;
    return oneToEachTraffic({ world, from: 0, bytes, buffers: this.#requests });
  }

  #needs(bytes: number): Need[] {
    const traffic = this.#traffic(bytes);
    return Array.from({ length: this.#procedure.world.size }, (_, rank) => ({
      sourceBytes: Math.max(64, traffic.sourceBytes(rank)),
      targetBytes: Math.max(64, traffic.targetBytes(rank)),
    }));
  }

  async #measureSize(
    bytes: number,
    run: { engine: ServingEngine; runSeed: number; done: number; sizes: number },
  ): Promise<void> {
    const { listener, session, settings, world } = this.#procedure;
    for (const strategy of new Set(this.#columns.map((column) => column.strategy))) {
      const columns = this.#columns.filter((column) => column.strategy === strategy);
      const index = run.done + this.#columns.indexOf(columns[0]!);
      const total = run.sizes * this.#columns.length;
      listener.starting({ index, total, column: columns[0]!.name, bytes });
      world.note(`proxy ${strategy.title} ${bytes} bytes`);
      const rows = await measureGroup({
        session,
        engine: run.engine,
        settings,
        producers: this.#producers,
        producerCount: this.#producerCount,
        requests: this.#requests,
        strategy,
        bytes,
        traffic: this.#traffic(bytes),
        columns,
        nextSeed: () => seedOfCheck(run.runSeed, this.#checks++),
      });
      for (const row of rows) listener.row(row);
    }
  }
}
