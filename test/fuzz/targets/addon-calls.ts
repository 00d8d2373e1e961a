import { addon } from '../../../src/native/addon.js';
import { encodePlan } from '../../../src/plan/encode.js';
import { planVersion, type Step } from '../../../src/plan/plan.js';

type Call = (...args: unknown[]) => unknown;
export type Handle = Record<string, Call>;
type Make = new (...args: unknown[]) => Handle;

/** A call as the product would make it: of the addon itself, or of an object that it makes first. */
export interface Template {
  readonly of?: {
    readonly type: string;
    readonly args: () => unknown[];
    /** Brings a new object into the state that its calls need. */
    readonly prepare?: (self: Handle) => void;
  };
  readonly method: string;
  readonly args: () => unknown[];
}

export const native = () => addon() as unknown as Record<string, Call & Make>;
const floats = (...numbers: number[]) => Float64Array.from(numbers);

/** An argument that the addon makes: when the call is made, not when it is chosen. */
export class Late {
  readonly make: () => unknown;
  constructor(make: () => unknown) {
    this.make = make;
  }
}
const memory = () => new Late(() => new (native().Memory!)(4096, false));

const shm = new Late(
  () => (native().getInfo!({ provider: 'shm' }) as { handle: unknown }[])[0]?.handle,
);

const ipcJob = () => ({ grid: 2, block: 4, bytes: 4096, seed: 1, batch: 2, samples: 2 });
const queueJob = () => ({
  ...{ what: 'push', cells: 'host', grid: 2, block: 4, shift: 4, seed: 1, each: 16, batch: 4 },
  ...{ rounds: 4, released: false, timeoutMs: 20, spinsBeforeYield: 0 },
});
const self = { channel: 0, peer: 0, slot: 0, after: [] } as const;
const local = { buffer: 'source', offset: 0, bytes: 2048 } as const;
const write: Step = { kind: 'post', op: 'write', ...self, local, remote: { offset: 2048 } };
const wait: Step = { kind: 'wait', source: 0, slot: 0, after: [], offset: 2048, bytes: 2048 };

/** Of a port that is its own peer. */
const planJob = (steps: readonly Step[] = [write, wait, { kind: 'join', after: [0, 1] }]) => ({
  plan: encodePlan({
    ...{ version: planVersion, rank: 0, world: 1, channels: 1, chunkBytes: 512, window: 4 },
    ...{ delivery: 'complete', sourceBytes: 4096, targetBytes: 4096, steps },
  }),
  ...{ source: 0, target: 0, remotes: [0], iterations: 2, batch: 1 },
  ...{ timeoutMs: 5, expectedMs: 0, spinsBeforeYield: 0 },
});
const proxyOf = () => ({
  ...{ producers: 1, block: 1, shift: 4, blocking: true, fill: true, seed: 1, trace: true },
  transfers: [[0]],
});
/** Every kind of run that needs no other object. */
const planJobs = [
  planJob,
  () => ({ ...planJob(), expected: floats(2048, 8, 1, 0) }),
  () => ({ ...planJob(), marks: Uint32Array.of(1, 2), silenceMs: 1 }),
  () => ({ ...planJob(), sabotage: { kind: 'flip', offset: 8 } }),
  () => ({ ...planJob([write]), proxy: proxyOf() }),
];

/** Whose memory a PeerMemory of this process opens: made once, because each one costs a descriptor. */
let shared: Handle | undefined;
function sharedPath(): unknown {
  shared ??= new (native().SharedMemory!)(4096);
  return shared.path;
}
const methodsOf = (
  type: string,
  args: () => unknown[],
  methods: Record<string, () => unknown[]>,
  prepare: (self: Handle) => void = () => {},
) =>
  Object.entries(methods).map(
    ([method, own]): Template => ({ of: { type, args, prepare }, method, args: own }),
  );

/** What `post` reads: all ports of an input have the same array. */
export const command = new Float64Array(16);
const portArgs = () => [command, new Uint32Array(64)];

/** A port that is its own peer, with a region to send from and to write to. */
export function connectPort(port: Handle): void {
  const how = { directed: true, acknowledged: false, peersExpected: 1, localShm: true };
  port.open!(shm.make(), how);
  port.connect!(0, 0, [port.name!(0)]);
  const region = port.addRegion!(memory().make(), [1n]) as { keys: bigint[] };
  port.addRemote!([0n], region.keys);
}

export const templates: readonly Template[] = [
  ...Object.entries<() => unknown[]>({
    sequence: () => [memory(), 0, 0, floats(0, 64, 1)],
    numbers: () => [memory(), 0, false, 4, 1, floats(0, 64, 1, 5, 0, 1)],
    copyBlock: () => [memory(), memory(), 0, 0, 64],
    getInfo: () => [{ provider: 'shm', mrMode: 0, directed: true, node: '' }],
    openLibrary: () => ['/nowhere/libfabric.so'],
    openCuda: () => ['/nowhere/libcuda.so'],
    describeGpu: () => [0],
    retainGpu: () => [0],
    freeGpuBytes: () => [0],
    gpusLinked: () => [0, 1],
    endWithParent: () => [process.ppid],
    pinToCores: () => [[0]],
    allowedCores: () => [],
    queueRun: () => [queueJob()],
    // Without a descriptor of a process manager: what it would answer is not the addon's.
    pmiExchange: () => [-1, 'key', 'value', 5],
    leavePmi: () => [-1],
    pmixExchange: () => ['/nowhere/libpmix.so', 'key', 'value'],
    leavePmix: () => [],
    Memory: () => [4096, false],
    SharedMemory: () => [4096],
    PeerMemory: () => [{ bytes: 64, path: '/dev/shm/none', gpu: 0, handle: new Uint8Array(64) }],
    TransferBoard: () => [{ producers: 2, shift: 4 }],
    DeviceMemory: () => [0, 4096],
    OwnKernel: () => [0, '.version 8.0', 'kernel'],
    TokenKernel: () => [0, { parts: floats(0, 0, 8) }],
    Peer: () => ['/nowhere/libpeer.so', 'shim'],
    Port: () => [new Float64Array(16), new Uint32Array(64)],
  }).map(([method, args]): Template => ({ method, args })),
  ...methodsOf('Memory', () => [4096, true, true], { prepare: () => [], close: () => [] }),
  ...methodsOf('Memory', () => [4096, false], {
    prepare: () => [],
    view: () => [0, 64],
    fill: () => [0, 64, 1, 0],
    verify: () => [0, 64, 1, 0],
    registerWithGpu: () => [0],
    close: () => [],
  }),
  ...methodsOf('SharedMemory', () => [4096], {
    prepare: () => [],
    verify: () => [64, 1],
    memsetNanoseconds: () => [64, 2],
    flip: () => [8],
    close: () => [],
  }),
  ...methodsOf('PeerMemory', () => [{ bytes: 4096, path: sharedPath() }], {
    write: () => [ipcJob()],
    copy: () => [ipcJob()],
    close: () => [],
  }),
  ...methodsOf('TransferBoard', () => [{ producers: 2, shift: 4 }], {
    context: () => [],
    putNbi: () => [0, 0],
    look: () => [0],
    finish: () => [],
  }),
  ...methodsOf(
    'Port',
    portArgs,
    {
      // Kind, endpoint, peer, region, offset, bytes, remote, its offset, data, flags.
      post: () => [0, 0, 0, 0, 0, 64, 0, 0, 7, 3],
      poll: () => [10],
      cancel: () => [0],
      addRegionLater: () => [memory(), [2n]],
      removeRegion: () => [0],
      takeText: () => [1],
    },
    connectPort,
  ),
  ...planJobs.flatMap((job) => methodsOf('Port', portArgs, { run: () => [job()] }, connectPort)),
  ...methodsOf('Port', portArgs, {
    open: () => [shm, { directed: true, acknowledged: false, peersExpected: 2, localShm: true }],
    name: () => [0],
    limits: () => [0],
    connect: () => [0, 0, [new Uint8Array(16)]],
    addRegion: () => [memory(), [1n], -1],
    addRegionLater: () => [memory(), [1n]],
    removeRegion: () => [0],
    addRemote: () => [[0n], [1n]],
    removeRemote: () => [0],
    cancel: () => [0],
    takeText: () => [0],
    shuffle: () => [1, 0.5],
    abort: () => [],
    post: () => [],
    poll: () => [1],
    close: () => [],
  }),
  ...methodsOf('Port', portArgs, { run: () => [planJob()] }, (port) => {
    // Memory of a port without endpoints.
    port.addRegion!(memory().make(), []);
    port.addRemote!([], []);
  }),
];
// `Peer` and those of GPUs need a library or a GPU before they have methods.
