import { cpus } from 'node:os';
import { WeftError } from '../errors.js';
import type { Mismatch } from '../memory/buffer.js';
import { addon } from '../native/addon.js';
import type { NativeIpcJob, NativePeerMemory } from '../native/tasks.js';
import type { Topology } from '../topology/model.js';
import { pciAddress } from '../topology/pci-address.js';
import { readSysfs } from '../topology/sysfs.js';
import { callingGpu } from './faults.js';
import { gpuAvailability, openGpu } from './gpu.js';
import { runTask } from './queue.js';

/** How another process finds memory of this one; plain data. */
type SharedDescription =
  | { readonly kind: 'host'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'gpu'; readonly pci: string; readonly handle: string; readonly bytes: number };

export interface Landing extends Disposable {
  readonly description: SharedDescription;
  verify(bytes: number, seed: number): Promise<Mismatch>;
  /** Of one memset by whoever is fastest at it here. */
  memsetNanoseconds(bytes: number): Promise<number>;
}

export interface Remote extends Disposable {
  write(job: NativeIpcJob): Promise<Float64Array>;
  copy(job: NativeIpcJob): Promise<Float64Array>;
}

export type Path = 'same GPU' | 'NVLink' | 'PCIe' | 'host memory';

/** An aborted signal ends what is under way. Its pages are touched off this thread: tens of GiB take seconds. */
export async function hostLanding(bytes: number, signal?: AbortSignal): Promise<Landing> {
  const native = callingGpu(() => new (addon().SharedMemory)(bytes));
  try {
    await runTask(() => native.prepare(), signal);
  } catch (error) {
    native.close();
    throw error;
  }
  return {
    description: { kind: 'host', path: native.path, bytes },
    verify: async (length, seed) => {
      const [wrong, offset, expected, found] = await runTask(
        () => native.verify(length, seed),
        signal,
      );
      return { wrong: wrong!, offset: offset!, expected: expected!, found: found! };
    },
    memsetNanoseconds: (length) =>
      runTask(() => native.memsetNanoseconds(length, Math.min(16, cpus().length)), signal),
    [Symbol.dispose]: () => native.close(),
  };
}

const memsetRepeats = 20;

export function gpuLanding(gpuIndex: number, bytes: number): Landing {
  const gpu = openGpu(gpuIndex);
  const buffer = gpu.allocate(bytes);
  const handle = callingGpu(() => buffer.native.ipcHandle());
  return {
    description: {
      kind: 'gpu',
      pci: gpu.description.pci,
      handle: Buffer.from(handle).toString('hex'),
      bytes,
    },
    verify: (length, seed) => buffer.verify(seed, { bytes: length }),
    memsetNanoseconds: async (length) =>
      1e6 * (await buffer.native.time('set', length, memsetRepeats, 0, 0)),
    [Symbol.dispose]: () => buffer.close(),
  };
}

/** Maps another process's memory. `gpu` is the GPU that will write to it; an aborted signal ends its writing. */
export function openRemote(
  description: SharedDescription,
  gpu: number | undefined,
  signal?: AbortSignal,
): Remote {
  const native = callingGpu(() => openNative(description, gpu));
  return {
    write: (job) => runTask(() => native.write(job), signal),
    copy: (job) => runTask(() => native.copy(job), signal),
    [Symbol.dispose]: () => native.close(),
  };
}

function openNative(description: SharedDescription, gpu: number | undefined): NativePeerMemory {
  const { PeerMemory } = addon();
  const { bytes } = description;
  if (description.kind === 'host') return new PeerMemory({ bytes, path: description.path });
  if (gpu === undefined) throw new TypeError('writing to GPU memory needs a GPU');
  return new PeerMemory({ bytes, gpu, handle: Buffer.from(description.handle, 'hex') });
}

/** What lies between this process's GPU and the memory, and what that can carry where it is known. */
export function pathTo(
  description: SharedDescription,
  gpu: number | undefined,
): { path: Path; peakGbps?: number } {
  if (description.kind === 'host') return { path: 'host memory' };
  const { gpus } = gpuAvailability();
  const own = gpus.find(({ index }) => index === gpu);
  const other = gpus.find(({ pci }) => pci === description.pci);
  if (!own || !other) {
    throw new WeftError('UNSUPPORTED', `this process cannot see the GPU ${description.pci}`, {
      hint: 'Make both GPUs visible to both ranks with CUDA_VISIBLE_DEVICES.',
    });
  }
  if (own.index === other.index) return { path: 'same GPU' };
  const linked = addon().gpusLinked(own.index, other.index);
  const peakGbps = linked
    ? nvlinkGbps[own.computeCapability]
    : slowestLinkGbps(readSysfs({ nics: [] }), [own.pci, other.pci]);
  return { path: linked ? 'NVLink' : 'PCIe', ...(peakGbps !== undefined && { peakGbps }) };
}

/** In one direction, all links of a GPU together, by compute capability: A100, H100 and H200, B200. */
const nvlinkGbps: Readonly<Record<string, number>> = { '8.0': 2400, '9.0': 3600, '10.0': 7200 };

/**
 * What the slowest PCIe link of these GPUs carries in one direction; bytes from one to the other cross them all.
 * Undefined where one of them is not known.
 */
export function slowestLinkGbps(
  { gpus }: Topology,
  addresses: readonly string[],
): number | undefined {
  const links = addresses.map(
    (address) => gpus.find(({ pci }) => pci === pciAddress(address))?.linkGbps,
  );
  return links.some((link) => link === undefined) ? undefined : Math.min(...(links as number[]));
}
