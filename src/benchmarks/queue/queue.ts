import { exceedsCores, spinsFor } from '../../engine/spinning.js';
import { elementBytes, mostCapacity, runQueue } from '../../gpu/queue.js';
import type { NativeQueueJob, NativeQueueResult } from '../../native/tasks.js';
import { measuredRow, skippedRow } from '../../results/rows.js';
import type { Row } from '../../results/schema.js';
import { rankZeroAlone } from '../../runner/alone.js';
import { defineBenchmark, type Procedure } from '../../runner/benchmark.js';
import { columnsOf } from '../../runner/columns.js';
import { option } from '../../settings/option.js';
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

const options = {
  grid: gridOption,
  block: blockOption,
  capacity: option({
    flags: '--capacity <count>',
    help: 'queue length, a power of two',
    kind: {
      parse: (text) => {
        const value = Number(text);
        if (value >= 2 && value <= mostCapacity && Number.isInteger(Math.log2(value))) return value;
        throw new Error(`It must be a power of two from 2 to ${mostCapacity}.`);
      },
      inFile: 'power of two',
    },
    default: 2 ** 13,
  }),
  producer: producerOption,
};

/** Columns that count pushes, and how each differs from the first. */
const pushes: Record<string, Pick<NativeQueueJob, 'cells' | 'released'>> = {
  Push: { cells: 'host', released: false },
  PushReleased: { cells: 'host', released: true },
  PushDevice: { cells: 'device', released: false },
};

export const queue = defineBenchmark({
  id: 'queue',
  summary: 'Queue from GPU threads (or CPU threads) to one CPU thread: rate and latency.',
  ranks: { min: 1, usual: 1 },
  columns: [...Object.keys(pushes), 'OneWay', 'RoundTrip', 'EmptyPoll'].map((name) => ({ name })),
  sizes: { minBytes: elementBytes, maxBytes: elementBytes, factor: 2 },
  options,
  // Elements have one size.
  without: ['minBytes', 'maxBytes', 'stepFactor', 'stepBytes'],
  fabric: false,
  preflight: refuseMissingGpu,
  run: async (procedure) => {
    // The queue is a matter of one process: rank 0's.
    const { world, settings } = procedure;
    const producers = await chooseProducers(world, procedure);
    const rows = new QueueRows(procedure, producers);
    await rankZeroAlone(world, settings.timeoutMs, () => rows.run());
  },
});

const usualShapes: Record<Producers['kind'], readonly Shape[]> = {
  cpu: [1, 2, 4, 8].flatMap((grid) => [1, 32].map((block) => ({ grid, block }))),
  gpu: [1, 8, 32, 132, 264, 1024].flatMap((grid) => [1, 32, 256].map((block) => ({ grid, block }))),
};

/** Samples of a throughput row; one batch more is pushed before them. */
const samplesWanted = 40;
const mostRounds = 4000;
const emptyLooks = 10_000;

class QueueRows {
  readonly #procedure: Procedure<typeof options>;
  readonly #producers: Producers;
  readonly #base: NativeQueueJob;

  constructor(procedure: Procedure<typeof options>, producers: Producers) {
    const { settings } = procedure;
    this.#procedure = procedure;
    this.#producers = producers;
    this.#base = {
      what: 'push',
      ...(producers.gpu !== undefined && { gpu: producers.gpu }),
      cells: 'host',
      grid: 1,
      block: 1,
      shift: Math.log2(procedure.options.capacity),
      seed: Math.floor(Math.random() * 2 ** 40),
      each: 1,
      batch: 1,
      rounds: 1,
      released: false,
      timeoutMs: settings.timeoutMs,
      spinsBeforeYield: spinsFor(false),
    };
  }

  async run(): Promise<void> {
    const { settings, options, listener } = this.#procedure;
    const shapes = shapesOf(options, usualShapes[this.#producers.kind]);
    const todo = columnsOf(queue, settings.columns).flatMap(({ name }) =>
      (name in pushes ? shapes : [{ grid: 1, block: 1 }]).map((shape) => ({ name, shape })),
    );
    for (const [index, { name, shape }] of todo.entries()) {
      listener.starting({ index, total: todo.length, column: name, bytes: elementBytes });
      listener.row(await this.#row(name, shape));
    }
  }

  #row(column: string, shape: Shape): Row | Promise<Row> {
    if (column in pushes) return this.#pushRow(column, shape);
    return column === 'EmptyPoll' ? this.#emptyRow() : this.#echoRow(column);
  }

  async #pushRow(column: string, shape: Shape): Promise<Row> {
    const labels = { producer: this.#producers.kind, ...shape };
    const { cells, released } = pushes[column]!;
    if (this.#producers.kind === 'cpu' && (released || cells === 'device')) {
      const reason = released
        ? 'needs a GPU: with CPU threads this is the same as Push'
        : 'needs a GPU: the queue is in GPU memory';
      return skippedRow({ kind: 'queue', column, bytes: elementBytes, labels, reason });
    }
    const job = { ...this.#base, ...shape, cells, released, spinsBeforeYield: this.#spins(shape) };
    const count = shape.grid * (this.#producers.kind === 'gpu' ? shape.block : 1);
    const perBatch = await this.#perBatch(job, count);
    const batch = count * perBatch;
    const result = await this.#measure({ ...job, each: perBatch * (samplesWanted + 1), batch });
    const samples = [...result.samples].map(Math.round);
    const total = samples.reduce((sum, sample) => sum + sample, 0);
    return measuredRow({
      kind: 'queue',
      column,
      bytes: elementBytes,
      samples,
      batch,
      mops: (1e3 * batch * samples.length) / total,
      labels,
      ...checkedOf(result),
    });
  }

  /** Elements of each producer in a batch, so that all batches take the budget. */
  async #perBatch(job: NativeQueueJob, producers: number): Promise<number> {
    const { settings } = this.#procedure;
    if (settings.iterations !== undefined) {
      return Math.max(1, Math.ceil(settings.iterations / producers / samplesWanted));
    }
    const budgetNs = settings.budgetMs * 1e6;
    for (let each = 2; ; each *= 8) {
      const trial = { ...job, each, batch: (producers * each) / 2 };
      const { samples } = await this.#measure(trial);
      const elementNs = Math.max(samples[0]!, 1) / trial.batch;
      const wanted = Math.max(1, Math.round(budgetNs / elementNs / producers / samplesWanted));
      // Long enough to tell, or as long as the whole would be.
      if (samples[0]! > budgetNs / 20 || each >= wanted * samplesWanted || each > 2 ** 20) {
        return Math.min(wanted, 2 ** 22);
      }
    }
  }

  async #echoRow(column: string): Promise<Row> {
    const rounds = Math.min(mostRounds, this.#procedure.settings.iterations ?? mostRounds);
    const job: NativeQueueJob = { ...this.#base, what: 'echo', rounds };
    const result = await this.#measure({ ...job, spinsBeforeYield: this.#spins(job) });
    const oneWay = [...result.oneWay].map((time) => Math.round(time + result.clockOffset));
    const doubt = result.clockUncertainty;
    const negative = column === 'OneWay' ? oneWay.filter((time) => time < 0) : [];
    const impossible = negative.some((time) => time < -2 * doubt - 1);
    return measuredRow({
      kind: 'queue',
      column,
      bytes: elementBytes,
      samples: column === 'OneWay' ? oneWay.map((time) => Math.max(0, time)) : [...result.samples],
      labels: { producer: this.#producers.kind, grid: 1, block: 1 },
      ...checkedOf(result),
      ...(impossible && { failure: 'elements were popped before they were pushed' }),
      breakdown: {
        stages: [],
        requests: rounds,
        clockUncertaintyNanoseconds: doubt,
        ...(negative.length > 0 && { negativeSamples: negative.length }),
      },
    });
  }

  async #emptyRow(): Promise<Row> {
    const job: NativeQueueJob = { ...this.#base, what: 'empty', rounds: emptyLooks, batch: 100 };
    const { samples } = await this.#measure(job);
    return measuredRow({
      kind: 'queue',
      column: 'EmptyPoll',
      bytes: elementBytes,
      samples: [...samples].map(Math.round),
      batch: emptyLooks,
      labels: { producer: this.#producers.kind, grid: 1, block: 1 },
      checked: { bytes: 0, wrong: 0 },
    });
  }

  #spins({ grid }: Shape): number {
    return spinsFor(this.#producers.kind === 'cpu' && exceedsCores(grid + 1));
  }

  #measure(job: NativeQueueJob): Promise<NativeQueueResult> {
    return runQueue(job, this.#procedure.world.signal);
  }
}

function checkedOf({ popped, wrong, first }: NativeQueueResult) {
  return {
    checked: { bytes: popped * elementBytes, wrong: wrong * elementBytes },
    ...(wrong > 0 && { failure: `${wrong} of ${popped} elements are wrong: ${first}` }),
  };
}
