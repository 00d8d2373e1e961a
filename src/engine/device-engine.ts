import { isWeftError, WeftError } from '../errors.js';
import type { DeviceAccess } from '../fabric/device-access.js';
import type { DevicePath } from '../fabric/device-path.js';
import type { FabricDeviceBuffer, RemoteRegion } from '../fabric/region.js';
import type { DeviceBuffer } from '../gpu/device-buffer.js';
import { callingGpu } from '../gpu/faults.js';
import type { Gpu } from '../gpu/gpu.js';
import type { NativeProxyJob, NativeProxyResult } from '../native/tasks.js';
import type { Plan } from '../plan/plan.js';
import { type Staged, stage } from '../plan/staged.js';
import { exchangeRegions } from '../world/connect-fabric.js';
import type {
  BufferSizes,
  PatternBuffer,
  RunOptions,
  ServeOptions,
  ServingEngine,
} from './engine.js';
import type { FabricEngine } from './fabric-engine.js';
import { marksOf } from './marks.js';
import { runPlan, servePlan } from './run-plan.js';

interface DeviceEngineOptions {
  readonly gpu: Gpu;
  /** The same kind of answer on every rank. */
  readonly access: DeviceAccess;
  /** Whose buffers stage what the fabric cannot reach. */
  readonly staging: FabricEngine;
  readonly pieceBytes: number;
}

interface Pair<B> {
  readonly source: B;
  readonly target: B;
}

type Buffers =
  | {
      readonly direct: Pair<FabricDeviceBuffer>;
      readonly remotes: readonly RemoteRegion[];
      readonly readable?: readonly RemoteRegion[] | undefined;
    }
  | { readonly staged: Pair<DeviceBuffer> };

/**
 * Plans from and to GPU memory: directly where the fabric reaches it, else staged through the buffers of the engine
 * for host memory, which must be prepared first. Owns its buffers.
 */
export class DeviceEngine implements ServingEngine {
  readonly #options: DeviceEngineOptions;
  readonly #stagedPlans = new WeakMap<Plan, Staged>();
  #buffers: Buffers | undefined;

  constructor(options: DeviceEngineOptions) {
    this.#options = options;
  }

  get rank(): number {
    return this.#options.staging.rank;
  }

  get world(): number {
    return this.#options.staging.world;
  }

  get memory(): 'direct' | 'staged' {
    return 'path' in this.#options.access ? 'direct' : 'staged';
  }

  get stagedBecause(): string | undefined {
    const { access } = this.#options;
    return 'reason' in access ? access.reason : undefined;
  }

  get gpu(): Gpu {
    return this.#options.gpu;
  }

  get source(): PatternBuffer {
    return this.#pair().source;
  }

  get target(): PatternBuffer {
    return this.#pair().target;
  }

  /** Throws MEMORY_LIMIT on every rank where it does on one. */
  async prepare(sizes: BufferSizes): Promise<void> {
    this.#release();
    const { access } = this.#options;
    const { world, fabric } = this.#options.staging.options;
    let failure: WeftError | undefined;
    try {
      this.#buffers = 'path' in access ? this.#direct(sizes, access.path) : this.#staged(sizes);
    } catch (error) {
      if (!isWeftError(error, 'MEMORY_LIMIT')) throw error;
      failure = error;
    }
    const everyones = await world.allgather('GPU memory', failure?.message ?? null);
    const failed = everyones.findIndex((message) => message !== null);
    if (failed >= 0) {
      this.#release();
      throw new WeftError('MEMORY_LIMIT', `rank ${failed}: ${everyones[failed]}`, {
        ...(failure?.hint && { hint: failure.hint }),
        cause: failure,
      });
    }
    if (this.#buffers && 'direct' in this.#buffers) {
      const { direct } = this.#buffers;
      const remotes = await exchangeRegions(world, fabric, direct.target);
      const readable = sizes.readable
        ? await exchangeRegions(world, fabric, direct.source)
        : undefined;
      this.#buffers = { direct, remotes, readable };
    }
  }

  run(plan: Plan, options: RunOptions): Promise<Float64Array> {
    const { staging } = this.#options;
    const buffers = this.#prepared();
    if ('direct' in buffers) {
      const memory = { ...buffers.direct, remotes: buffers.remotes, readable: buffers.readable };
      const { expecting: _, ...rest } = options; // the CPU cannot look at it
      return runPlan(staging.options, memory, plan, rest);
    }
    const { source, target } = buffers.staged;
    const device = { source: source.native, target: target.native };
    const memory = { ...staging.planMemory, device };
    const staged = this.#stagedPlan(plan);
    const { marks } = options;
    // A step is done when all that it became is done.
    const ends = marks?.steps.map((step) => staged.ends[step]!);
    return runPlan(staging.options, memory, staged.plan, {
      ...options,
      ...(marks && ends && { marks: marksOf(ends, marks.heard) }),
    });
  }

  /** Only where the fabric reaches GPU memory: what is staged is not the producers' to ask for. */
  serve(plan: Plan, options: ServeOptions, proxy: NativeProxyJob): Promise<NativeProxyResult> {
    const buffers = this.#prepared();
    if (!('direct' in buffers)) throw new TypeError('staged memory is not proxied');
    const memory = { ...buffers.direct, remotes: buffers.remotes };
    return servePlan(this.#options.staging.options, memory, plan, options, proxy);
  }

  #direct({ sourceBytes, targetBytes }: BufferSizes, path: DevicePath): Buffers {
    const { gpu } = this.#options;
    const { fabric } = this.#options.staging.options;
    const source = fabric.allocateDevice(sourceBytes, gpu, path);
    try {
      const target = fabric.allocateDevice(targetBytes, gpu, path);
      return { direct: { source, target }, remotes: [] };
    } catch (error) {
      source.close();
      throw error;
    }
  }

  #staged({ sourceBytes, targetBytes }: BufferSizes): Buffers {
    const { gpu, staging } = this.#options;
    // Made while the GPU was in use, page-locked buffers are CUDA's already; others become so now.
    for (const { gpuRegistered, native } of [staging.source, staging.target]) {
      if (!gpuRegistered) callingGpu(() => native.registerWithGpu(gpu.index));
    }
    const source = gpu.allocate(sourceBytes);
    try {
      return { staged: { source, target: gpu.allocate(targetBytes) } };
    } catch (error) {
      source.close();
      throw error;
    }
  }

  #stagedPlan(plan: Plan): Staged {
    const known = this.#stagedPlans.get(plan);
    if (known) return known;
    const made = stage(plan, this.#options.pieceBytes);
    this.#stagedPlans.set(plan, made);
    return made;
  }

  #prepared(): Buffers {
    if (!this.#buffers) throw new TypeError('prepare the engine first');
    return this.#buffers;
  }

  #pair(): Pair<PatternBuffer> {
    const buffers = this.#prepared();
    return 'direct' in buffers ? buffers.direct : buffers.staged;
  }

  #release(): void {
    if (!this.#buffers) return;
    if ('direct' in this.#buffers) {
      const { remotes, readable = [] } = this.#buffers;
      for (const remote of [...remotes, ...readable]) remote.close();
    }
    const pair = 'direct' in this.#buffers ? this.#buffers.direct : this.#buffers.staged;
    pair.source.close();
    pair.target.close();
    this.#buffers = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#release();
  }
}
