import { randomInt } from 'node:crypto';
import { WeftError } from '../../errors.js';
import { openGpu } from '../../gpu/gpu.js';
import {
  gpuLanding,
  hostLanding,
  type Landing,
  openRemote,
  pathTo,
  type Remote,
} from '../../gpu/ipc.js';
import { figuresOf } from '../../measure/figures.js';
import { summarize } from '../../measure/summary.js';
import { formatBytes, formatBytesRounded, gbpsOf } from '../../measure/units.js';
import type { Mismatch } from '../../memory/buffer.js';
import { patientMs } from '../../memory/patience.js';
import { measuredRow, skippedRow } from '../../results/rows.js';
import type { Row } from '../../results/schema.js';
import { rankZeroAlone } from '../../runner/alone.js';
import { defineBenchmark, type Procedure } from '../../runner/benchmark.js';
import { columnsOf } from '../../runner/columns.js';
import { availableBytes } from '../../runner/memory-plan.js';
import { sizesOf } from '../../runner/sizes.js';
import { countFor } from '../../runner/timing.js';
import { sameHost } from '../../world/same-host.js';
import type { World } from '../../world/world.js';
import {
  blockOption,
  chooseProducers,
  gridOption,
  type Producers,
  producerOption,
  refuseMissingGpu,
  type Shape,
  shapesOf,
} from '../producers.js';
import { bestMemset, memsetPasses } from './memset.js';

const storeBytes = 16;
/** Who writes, and whose memory it is. */
const writer = 0;
const owner = 1;

const options = { grid: gridOption, block: blockOption, producer: producerOption };

export const ipc = defineBenchmark({
  id: 'ipc',
  summary:
    'Write from a kernel on rank 0 to GPU memory of rank 1 (or CPU threads to shared memory).',
  ranks: { min: 2 },
  columns: [{ name: 'Kernel' }, { name: 'CopyEngine' }],
  sizes: { minBytes: 2 ** 20, maxBytes: 2 ** 30, factor: 32 },
  options,
  fabric: false,
  check: ({ settings }) => sizesOf(settings).forEach(refuseOdd),
  preflight: refuseMissingGpu,
  run: async (procedure) => {
    refuseHosts(procedure.world);
    const producers = await chooseProducers(procedure.world, procedure);
    await new IpcRows(procedure, producers).run();
  },
});

function refuseOdd(bytes: number): void {
  if (bytes > 0 && bytes % storeBytes === 0) return;
  throw new WeftError('BAD_USAGE', `${bytes} bytes is not a multiple of ${storeBytes}`, {
    hint: `The kernel stores ${storeBytes} bytes at a time: use multiples of that.`,
  });
}

function refuseHosts({ members }: World): void {
  if (sameHost(members[writer]!, members[owner]!)) return;
  throw new WeftError('BAD_USAGE', 'ranks 0 and 1 are on different hosts and cannot share memory', {
    hint: 'Start two ranks on one host. Network namespaces count as hosts.',
  });
}

const usualShapes: Record<Producers['kind'], readonly Shape[]> = {
  cpu: [1, 2, 4].map((grid) => ({ grid, block: 256 })),
  gpu: [256, 1024].flatMap((block) => [1, 16, 32, 64, 128].map((grid) => ({ grid, block }))),
};

/** What buffers may take on this rank's GPU or, without one, of its host's memory; half is left to others there. */
const availableTo = ({ gpu }: Producers): number =>
  gpu === undefined ? availableBytes() / 2 : openGpu(gpu).freeBytes();

interface Written {
  readonly bytes: number;
  readonly seed: number;
}

interface Timed {
  readonly samples: Float64Array;
  readonly batch: number;
  readonly lastSeed: number;
}

class IpcRows {
  readonly #procedure: Procedure<typeof options>;
  readonly #producers: Producers;

  constructor(procedure: Procedure<typeof options>, producers: Producers) {
    this.#procedure = procedure;
    this.#producers = producers;
  }

  async run(): Promise<void> {
    const { world, settings } = this.#procedure;
    const free = Math.min(...(await world.allgather('free memory', availableTo(this.#producers))));
    const sizes = sizesOf(settings);
    // A second buffer of the writer holds what the copy engine copies.
    const fitting = sizes.filter((bytes) => 2 * bytes <= free);
    if (fitting.length > 0) await this.#measureAll(fitting);
    if (world.rank !== writer) return;
    for (const bytes of sizes.filter((one) => !fitting.includes(one))) {
      const reason = `needs two buffers of ${formatBytes(bytes)}; ${formatBytesRounded(free)} is free`;
      for (const { name: column } of columnsOf(ipc, settings.columns)) {
        this.#procedure.listener.row(skippedRow({ kind: 'ipc', column, bytes, reason }));
      }
    }
  }

  async #measureAll(sizes: readonly number[]): Promise<void> {
    const { world, settings } = this.#procedure;
    const { gpu } = this.#producers;
    const most = sizes.at(-1)!;
    // Given back only when all went well: after an error another process may still map it, and it goes with this one.
    const landing = world.rank !== owner ? undefined : await this.#landing(most);
    const shared = await world.allgather(
      'shared memory',
      landing?.description ?? null,
      this.#patience(most),
    );
    using remote =
      world.rank === writer ? openRemote(shared[owner]!, gpu, world.signal) : undefined;
    const place = world.rank === writer ? pathTo(shared[owner]!, gpu) : undefined;
    const todo = this.#todo(sizes);
    const memsets = new Map<number, number | null>();
    for (const [index, { bytes, column, shape }] of todo.entries()) {
      this.#procedure.listener.starting({ index, total: todo.length, column, bytes });
      if (!memsets.has(bytes)) {
        const mine = (await bestMemset(landing, bytes)) ?? null;
        const patience = this.#patience(memsetPasses * bytes);
        memsets.set(bytes, (await world.allgather('memset', mine, patience))[owner]!);
      }
      const timed = await rankZeroAlone(world, settings.timeoutMs, async () =>
        remote ? this.#time(remote, column, bytes, shape) : undefined,
      );
      const written = timed && { bytes, seed: timed.lastSeed };
      const found = await this.#verify(landing, written);
      if (!timed || !place) continue;
      const oneMemory = place.path === 'same GPU' || place.path === 'host memory';
      const peakGbps = oneMemory ? gbpsOf(bytes, memsets.get(bytes)!) : place.peakGbps;
      const row = { column, bytes, shape, timed, found, path: place.path, peakGbps };
      this.#procedure.listener.row(this.#row(row));
    }
    // Memory must not go while another process still maps it.
    remote?.[Symbol.dispose]();
    await world.barrier('memory unmapped');
    landing?.[Symbol.dispose]();
  }

  async #landing(bytes: number): Promise<Landing> {
    const { gpu } = this.#producers;
    const { signal } = this.#procedure.world;
    return gpu === undefined ? hostLanding(bytes, signal) : gpuLanding(gpu, bytes);
  }

  /** The others wait for rank 1, which goes through so many bytes. */
  #patience(bytes: number): { timeoutMs: number } {
    return { timeoutMs: patientMs(this.#procedure.settings.timeoutMs, bytes) };
  }

  #todo(sizes: readonly number[]) {
    const { settings } = this.#procedure;
    const shapes = shapesOf(this.#procedure.options, usualShapes[this.#producers.kind]);
    const columns = columnsOf(ipc, settings.columns).map(({ name }) => name);
    return sizes.flatMap((bytes) =>
      columns.flatMap((column) =>
        (column === 'Kernel' ? shapes : [undefined]).map((shape) => ({ bytes, column, shape })),
      ),
    );
  }

  /** As many passes as the budget allows, each with a seed of its own. */
  async #time(remote: Remote, column: string, bytes: number, shape?: Shape): Promise<Timed> {
    const { settings } = this.#procedure;
    const base = randomInt(2 ** 40);
    const run = async (batch: number, samples: number, seed: number) => {
      const job = { ...(shape ?? { grid: 1, block: 1 }), bytes, seed, batch, samples };
      return { job, times: await (shape ? remote.write(job) : remote.copy(job)) };
    };
    await run(1, 1 + settings.warmup, base);
    const { times } = await run(1, 3, base + 2 ** 20);
    const { iterations, batch } = countFor(Math.min(...times), settings);
    const seed = base + 2 ** 21;
    const last = await run(batch, iterations / batch, seed);
    // A copy engine copies the same bytes every time.
    const lastSeed = column === 'Kernel' ? seed + iterations - 1 : seed;
    return { samples: last.times, batch, lastSeed };
  }

  /** Rank 1 looks at what is there after the last timed pass. */
  async #verify(
    landing: Landing | undefined,
    written: Written | undefined,
  ): Promise<Mismatch | undefined> {
    const { world, settings } = this.#procedure;
    const { bytes, seed } = (await world.broadcast('written', written ?? null)) as Written;
    const found = landing && settings.check ? await landing.verify(bytes, seed) : null;
    return (await world.allgather('verified', found, this.#patience(bytes)))[owner] ?? undefined;
  }

  #row(parts: {
    column: string;
    bytes: number;
    shape: Shape | undefined;
    timed: Timed;
    found: Mismatch | undefined;
    path: NonNullable<Row['labels']['path']>;
    peakGbps: number | undefined;
  }): Row {
    const { column, bytes, shape, timed, found, path, peakGbps } = parts;
    const samples = [...timed.samples].map(Math.round);
    const meanNanoseconds = summarize(samples, timed.batch).mean;
    const wrong = found?.wrong ?? 0;
    return measuredRow({
      kind: 'ipc',
      column,
      bytes,
      samples,
      batch: timed.batch,
      figures: figuresOf({
        bytes: { figure: bytes, line: bytes },
        meanNanoseconds,
        allowedGbps: peakGbps,
      }),
      labels: { producer: this.#producers.kind, path, ...shape },
      checked: { bytes: found ? bytes : 0, wrong },
      peakGbps,
      ...(wrong > 0 && { failure: describe(found!, bytes) }),
    });
  }
}

const describe = ({ wrong, offset, expected, found }: Mismatch, bytes: number): string =>
  `${wrong} of ${bytes} bytes are wrong: byte ${offset} is ${found} instead of ${expected}`;
