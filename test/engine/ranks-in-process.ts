import type { DeviceBuffer } from '../../src/gpu/device-buffer.js';
import type { Gpu } from '../../src/gpu/gpu.js';
import { type Fabric, type FabricBuffer, openFabric } from '../../src/index.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import type { NativeProxyJob } from '../../src/native/tasks.js';
import { type EncodedPlan, encodePlan } from '../../src/plan/encode.js';
import type { Plan } from '../../src/plan/plan.js';
import type { Traffic } from '../../src/plan/traffic.js';
import { type SabotagedJob, shuffle } from '../native/hooks.js';

type PatternBuffer = HostBuffer | DeviceBuffer;

/** Ranks that share this process: each has a fabric of its own, and plans run on a thread each. */
export class RanksInProcess implements AsyncDisposable {
  readonly fabrics: Fabric[];
  readonly sources: FabricBuffer[];
  readonly targets: FabricBuffer[];
  /** What `sources` and `targets` stage, if they do: on a GPU, or ordinary memory in its stead. */
  readonly devices: { source: PatternBuffer; target: PatternBuffer }[];
  readonly #remotes: number[][];
  readonly #readable: number[][];

  private constructor(fabrics: Fabric[], bytes: number, staged: boolean, gpu: Gpu | undefined) {
    this.fabrics = fabrics;
    const everyone = fabrics.map((fabric) => fabric.addresses);
    for (const [rank, fabric] of fabrics.entries()) fabric.connect(rank, everyone);
    this.sources = fabrics.map((fabric) => fabric.allocate(bytes));
    this.targets = fabrics.map((fabric) => fabric.allocate(bytes));
    const device = () => gpu?.allocate(bytes) ?? new HostBuffer(bytes);
    this.devices = staged ? fabrics.map(() => ({ source: device(), target: device() })) : [];
    for (const { native } of gpu ? [...this.sources, ...this.targets] : []) {
      native.registerWithGpu(gpu!.index);
    }
    const known = (buffers: FabricBuffer[]) => {
      const described = buffers.map((buffer) => buffer.describe());
      return fabrics.map((fabric) => described.map((one) => fabric.remote(one).id));
    };
    this.#remotes = known(this.targets);
    this.#readable = known(this.sources);
  }

  static async open(options: {
    ranks: number;
    provider: string;
    channels: number;
    bytes: number;
    staged?: boolean;
    /** Has the buffers that are staged. */
    gpu?: Gpu;
    /** Endpoints that are opened for GPU memory. */
    deviceMemory?: boolean;
    /** Targets acknowledge writes. */
    acknowledged?: boolean;
    /** Keys of the provider and virtual addresses, as RDMA hardware has them. */
    basicRegistration?: boolean;
  }) {
    const { ranks, bytes, staged = false, gpu, ...how } = options;
    const fabrics: Fabric[] = [];
    for (let rank = 0; rank < ranks; rank++) {
      fabrics.push(await openFabric(how));
    }
    return new RanksInProcess(fabrics, bytes, staged, gpu);
  }

  /** From here on completions come late and out of order. */
  shuffle(seed: number): void {
    for (const [rank, fabric] of this.fabrics.entries()) {
      shuffle(fabric, seed * 64 + rank, 0.3 + (seed % 5) / 10);
    }
  }

  /** Every rank's plan at once. */
  run(
    planOf: (rank: number) => Plan,
    options: Partial<SabotagedJob> = {},
    optionsOf = (_rank: number) => options,
  ): Promise<Float64Array[]> {
    return Promise.all(
      this.fabrics.map((_, rank) =>
        this.runEncoded(rank, encodePlan(planOf(rank)), optionsOf(rank)),
      ),
    );
  }

  /** One rank's plan, whatever it holds. */
  runEncoded(
    rank: number,
    plan: EncodedPlan,
    options: Partial<SabotagedJob> = {},
  ): Promise<Float64Array> {
    const { port } = this.fabrics[rank]!;
    return port.drive((native) =>
      native.run({
        plan,
        source: this.sources[rank]!.region(port),
        target: this.targets[rank]!.region(port),
        remotes: this.#remotes[rank]!,
        readable: this.#readable[rank]!,
        ...this.#deviceOf(rank),
        iterations: 1,
        batch: 1,
        timeoutMs: 20_000,
        expectedMs: 0,
        spinsBeforeYield: 0,
        ...options,
      }),
    );
  }

  /** The same, with producers at rank 0 that ask for its writes. */
  serve(
    planOf: (rank: number) => Plan,
    proxy: NativeProxyJob,
    options: Partial<SabotagedJob> = {},
  ): Promise<unknown> {
    const served = { ...options, proxy } as Partial<SabotagedJob>;
    return this.run(planOf, options, (rank) => (rank === 0 ? served : options));
  }

  #deviceOf(rank: number): Pick<SabotagedJob, 'device'> {
    const device = this.devices[rank];
    return device ? { device: { source: device.source.native, target: device.target.native } } : {};
  }

  #endsOf(rank: number): { source: PatternBuffer; target: PatternBuffer } {
    return this.devices[rank] ?? { source: this.sources[rank]!, target: this.targets[rank]! };
  }

  /** What must not pass for data is everywhere, also in staging buffers. */
  async fill(traffic: Traffic, seed: number): Promise<void> {
    for (const [rank, staging] of this.sources.entries()) {
      const { source, target } = this.#endsOf(rank);
      if (staging !== source) await staging.fill(seed + 2000);
      for (const { sourceOffset: offset, bytes } of traffic.outgoing(rank)) {
        await source.fill(seed + rank, { offset, bytes, position: offset });
      }
      await this.targets[rank]!.fill(seed + 3000);
      await target.fill(seed + 1000);
    }
  }

  /** How many bytes are not what their sender had. */
  async wrong(traffic: Traffic, seed: number): Promise<number> {
    let wrong = 0;
    for (const rank of this.targets.keys()) {
      const { target } = this.#endsOf(rank);
      for (const block of traffic.incoming(rank)) {
        const { targetOffset: offset, bytes, sourceOffset: position } = block;
        wrong += (await target.verify(seed + block.source, { offset, bytes, position })).wrong;
      }
    }
    return wrong;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fabric of this.fabrics) await fabric.close();
    for (const { source, target } of this.devices) {
      source.close();
      target.close();
    }
  }
}
