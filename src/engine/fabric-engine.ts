import { isWeftError } from '../errors.js';
import type { FabricBuffer, RemoteRegion } from '../fabric/region.js';
import { formatBytesRounded } from '../measure/units.js';
import type { MemoryKind } from '../memory/buffer.js';
import { patientMs } from '../memory/patience.js';
import type { NativeProxyJob, NativeProxyResult } from '../native/tasks.js';
import type { Plan } from '../plan/plan.js';
import { exchangeRegions } from '../world/connect-fabric.js';
import type { BufferSizes, RunOptions, ServeOptions, ServingEngine } from './engine.js';
import { type FabricEngineOptions, type PlanMemory, runPlan, servePlan } from './run-plan.js';

/** Plans over real libfabric, from and to host memory. Owns its buffers, not the world or the fabric. */
export class FabricEngine implements ServingEngine {
  readonly options: FabricEngineOptions;
  #buffers: { source: FabricBuffer; target: FabricBuffer } | undefined;
  #remotes: RemoteRegion[] = [];
  #readable: RemoteRegion[] | undefined;
  #memory: MemoryKind = 'pinned';

  constructor(options: FabricEngineOptions) {
    this.options = options;
  }

  get rank(): number {
    return this.options.world.rank;
  }

  get world(): number {
    return this.options.world.size;
  }

  get memory(): MemoryKind {
    return this.#memory;
  }

  get source(): FabricBuffer {
    return this.#prepared().source;
  }

  get target(): FabricBuffer {
    return this.#prepared().target;
  }

  /** For plans that stage through these buffers. */
  get planMemory(): PlanMemory {
    return { ...this.#prepared(), remotes: this.#remotes, readable: this.#readable };
  }

  async prepare(sizes: BufferSizes): Promise<void> {
    const { world, fabric, timeoutMs } = this.options;
    this.#release();
    const { sourceBytes, targetBytes } = sizes;
    const bytes = sourceBytes + targetBytes;
    const everyones = await world.allgather('buffer bytes', bytes);
    const most = everyones.reduce((a, b) => Math.max(a, b));
    const source = await this.#allocate(sourceBytes, 0, bytes);
    const target = await this.#allocate(targetBytes, sourceBytes, bytes);
    this.#buffers = { source, target };
    const kinds = await world.allgather('buffer memory', [source.memory, target.memory], {
      timeoutMs: patientMs(timeoutMs, most),
    });
    this.#memory = kinds.flat().every((kind) => kind === 'pinned') ? 'pinned' : 'host';
    this.#remotes = await exchangeRegions(world, fabric, this.#buffers.target);
    if (sizes.readable) {
      this.#readable = await exchangeRegions(world, fabric, this.#buffers.source);
    }
  }

  run(plan: Plan, options: RunOptions): Promise<Float64Array> {
    return runPlan(this.options, this.planMemory, plan, options);
  }

  serve(plan: Plan, options: ServeOptions, proxy: NativeProxyJob): Promise<NativeProxyResult> {
    return servePlan(this.options, this.planMemory, plan, options, proxy);
  }

  /** Page-locked where the limits allow it. What it became is in the buffer, and from there in the result. */
  async #allocate(bytes: number, before: number, total: number): Promise<FabricBuffer> {
    const { world, fabric } = this.options;
    const progress = (done: number) => world.say(preparingText(before + done, total));
    const how = { signal: world.signal, progress };
    try {
      return await fabric.prepare(bytes, { ...how, memory: 'pinned' });
    } catch (error) {
      if (!isWeftError(error, 'MEMORY_LIMIT')) throw error;
      return fabric.prepare(bytes, how);
    }
  }

  #prepared(): { source: FabricBuffer; target: FabricBuffer } {
    if (!this.#buffers) throw new TypeError('prepare the engine first');
    return this.#buffers;
  }

  #release(): void {
    for (const remote of [...this.#remotes, ...(this.#readable ?? [])]) remote.close();
    this.#remotes = [];
    this.#readable = undefined;
    this.#buffers?.source.close();
    this.#buffers?.target.close();
    this.#buffers = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#release();
  }
}

const preparingText = (done: number, total: number): string =>
  `preparing buffers, ${formatBytesRounded(done)} of ${formatBytesRounded(total)}`;
