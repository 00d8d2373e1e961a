import { isWeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import type { FabricBuffer, RemoteRegion } from '../fabric/region.js';
import type { MemoryKind } from '../memory/buffer.js';
import type { NativeJob } from '../native/addon.js';
import type { NativeProxyJob, NativeProxyResult } from '../native/tasks.js';
import { encodePlan } from '../plan/encode.js';
import type { Plan } from '../plan/plan.js';
import { exchangeRegions } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';
import type { Engine, RunOptions } from './engine.js';

export interface FabricEngineOptions {
  readonly world: World;
  /** Connected to every rank of the world. */
  readonly fabric: Fabric;
  /** How long an iteration may make no end before it is given up. */
  readonly timeoutMs: number;
  /** Empty looks at the queues before the core is offered to others; 0 where ranks share cores. */
  readonly spinsBeforeYield: number;
  /** Tests only: what the executor does wrong on purpose. */
  readonly sabotage?: NativeJob['sabotage'];
}

/** Plans over real libfabric. Owns its buffers, not the world or the fabric. */
export class FabricEngine implements Engine {
  readonly #options: FabricEngineOptions;
  #buffers: { source: FabricBuffer; target: FabricBuffer } | undefined;
  #remotes: RemoteRegion[] = [];
  #memory: MemoryKind = 'pinned';

  constructor(options: FabricEngineOptions) {
    this.#options = options;
  }

  get rank(): number {
    return this.#options.world.rank;
  }

  get world(): number {
    return this.#options.world.size;
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

  async prepare(sizes: { sourceBytes: number; targetBytes: number }): Promise<void> {
    const { world, fabric } = this.#options;
    this.#release();
    const kinds: MemoryKind[] = [];
    const allocate = (bytes: number) => {
      const buffer = allocateLocked(fabric, bytes);
      kinds.push(buffer.memory);
      return buffer;
    };
    this.#buffers = { source: allocate(sizes.sourceBytes), target: allocate(sizes.targetBytes) };
    const everyones = await world.allgather('buffer memory', kinds);
    this.#memory = everyones.flat().every((kind) => kind === 'pinned') ? 'pinned' : 'host';
    this.#remotes = await exchangeRegions(world, fabric, this.#buffers.target);
  }

  run(plan: Plan, options: RunOptions): Promise<Float64Array> {
    return this.#run(plan, options, (job) => this.#options.fabric.port.run(job));
  }

  /**
   * The same, but the plan's writes start when producers ask for them. Only for the rank that has them; with CPU
   * producers, `crowded` says that they and the ranks are more than the cores.
   */
  serve(
    plan: Plan,
    { crowded, ...options }: RunOptions & { crowded: boolean },
    proxy: NativeProxyJob,
  ): Promise<NativeProxyResult> {
    const { port } = this.#options.fabric;
    return this.#run(plan, options, (job) =>
      port.serve({ ...job, ...(crowded && { spinsBeforeYield: 0 }), proxy }),
    );
  }

  async #run<T>(
    plan: Plan,
    { iterations, batch = 1, expectedMs = 0 }: RunOptions,
    start: (job: NativeJob) => Promise<T>,
  ): Promise<T> {
    const { fabric, world, timeoutMs, spinsBeforeYield, sabotage } = this.#options;
    const { port } = fabric;
    const { source, target } = this.#prepared();
    world.signal.throwIfAborted();
    const abort = () => port.native.abort();
    world.signal.addEventListener('abort', abort, { once: true });
    try {
      return await start({
        plan: encodePlan(plan),
        source: source.region(port),
        target: target.region(port),
        remotes: this.#remotes.map((remote) => remote.id),
        iterations,
        batch,
        timeoutMs,
        expectedMs: Math.ceil(expectedMs),
        spinsBeforeYield,
        ...(sabotage && { sabotage }),
      });
    } catch (error) {
      // When another rank failed, its reason is the one worth telling.
      throw world.signal.aborted ? world.signal.reason : error;
    } finally {
      world.signal.removeEventListener('abort', abort);
    }
  }

  #prepared(): { source: FabricBuffer; target: FabricBuffer } {
    if (!this.#buffers) throw new TypeError('prepare the engine first');
    return this.#buffers;
  }

  #release(): void {
    for (const remote of this.#remotes) remote.close();
    this.#buffers?.source.close();
    this.#buffers?.target.close();
    this.#buffers = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#release();
  }
}

/** Page-locked where the limits allow it. What it became is in the buffer, and from there in the result. */
function allocateLocked(fabric: Fabric, bytes: number): FabricBuffer {
  try {
    return fabric.allocate(bytes, { memory: 'pinned' });
  } catch (error) {
    if (!isWeftError(error, 'MEMORY_LIMIT')) throw error;
    return fabric.allocate(bytes, { memory: 'host' });
  }
}
