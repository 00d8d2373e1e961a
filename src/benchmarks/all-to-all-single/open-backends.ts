import { isWeftError } from '../../errors.js';
import { HostBuffer } from '../../memory/buffer.js';
import type { FabricSettings } from '../../settings/table.js';
import { type Backend, type BackendId, type BackendJob, Unavailable } from './backend.js';
import type { Tensors } from './contents.js';
import type { Exchange } from './exchange.js';
import { FabricBackend } from './fabric-backend.js';
import { openGloo } from './gloo.js';
import { openMpi } from './mpi.js';
import { openNccl } from './nccl.js';

/** A backend that cannot run, or failed before it ran. */
export interface Missing {
  readonly id: BackendId;
  readonly outcome: 'skipped' | 'failed';
  readonly reason: string;
}

export interface Opened extends AsyncDisposable {
  readonly backends: readonly Backend[];
  readonly missing: readonly Missing[];
  readonly tensors: Tensors;
  readonly fabric: FabricBackend | undefined;
}

interface OpenOptions extends Omit<BackendJob, 'tensors' | 'timeoutMs' | 'gpus'> {
  readonly ids: readonly BackendId[];
  readonly settings: FabricSettings;
}

const openers = { gloo: openGloo, mpi: openMpi, nccl: openNccl } as const;

/** Opens every backend of the list on the same two tensors. What cannot run here is told, not thrown. */
export async function openBackends(options: OpenOptions): Promise<Opened> {
  const { world, exchange, ids, settings, interfaces } = options;
  const missing: Missing[] = [];
  const backends: Backend[] = [];
  const own: HostBuffer[] = [];
  const attempt = async <B extends Backend>(id: BackendId, open: () => Promise<B>) => {
    try {
      const backend = await open();
      backends.push(backend);
      return backend;
    } catch (error) {
      missing.push(missingFor(id, error));
      return undefined;
    }
  };
  const close = async () => {
    for (const backend of [...backends].reverse()) await backend.close();
    for (const buffer of own) buffer.close();
  };
  try {
    const fabric = ids.includes('fabric')
      ? await attempt('fabric', () => FabricBackend.open(world, exchange, settings, interfaces))
      : undefined;
    const tensors = fabric?.tensors ?? allocate(exchange, world.rank, own);
    const { timeoutMs, gpus } = settings;
    const job: BackendJob = { ...options, tensors, timeoutMs, gpus };
    for (const id of ids) {
      if (id !== 'fabric') await attempt(id, () => openers[id](job));
    }
    const inOrder = ids.flatMap((id) => backends.filter((backend) => backend.id === id));
    return { backends: inOrder, missing, tensors, fabric, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Why a backend could not be opened; what is not its own affair is thrown. */
function missingFor(id: BackendId, error: unknown): Missing {
  if (error instanceof Unavailable) return { id, outcome: 'skipped', reason: error.message };
  if (!isWeftError(error, 'PEER_LIBRARY')) throw error;
  return { id, outcome: 'failed', reason: [error.message, error.hint].filter(Boolean).join('. ') };
}

/** Without a fabric nothing has to be registered: ordinary memory, on huge pages, touched. */
function allocate(exchange: Exchange, rank: number, own: HostBuffer[]): Tensors {
  own.push(new HostBuffer(Math.max(64, exchange.sourceBytes(rank))));
  own.push(new HostBuffer(Math.max(64, exchange.targetBytes(rank))));
  const [input, output] = own;
  return { input: input!, output: output! };
}
