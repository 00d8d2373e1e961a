import { HostBuffer } from '../../memory/buffer.js';
import { type Missing, missingFor, openPeerById, refusalOf } from '../../peers/open-peers.js';
import { type Peer, type PeerBuffers, type PeerJob, Unavailable } from '../../peers/peer.js';
import type { Strategy } from '../../plan/strategies.js';
import type { FabricSettings } from '../../settings/table.js';
import type { Backend, BackendId } from './backend.js';
import type { Exchange } from './exchange.js';
import { FabricBackend } from './fabric-backend.js';

export interface Opened extends AsyncDisposable {
  readonly backends: readonly Backend[];
  readonly missing: readonly Missing<BackendId>[];
  readonly tensors: PeerBuffers;
  readonly fabric: FabricBackend | undefined;
}

interface OpenOptions extends Omit<PeerJob, 'buffers' | 'timeoutMs' | 'gpus'> {
  readonly exchange: Exchange;
  readonly ids: readonly BackendId[];
  readonly settings: FabricSettings;
  readonly strategy: Strategy;
}

/** Opens every backend of the list on the same two tensors. What cannot run here is told, not thrown. */
export async function openBackends(options: OpenOptions): Promise<Opened> {
  const { world, exchange, ids, settings } = options;
  const missing: Missing<BackendId>[] = [];
  const backends: Backend[] = [];
  const own: HostBuffer[] = [];
  const close = async () => {
    for (const backend of [...backends].reverse()) await backend.close();
    for (const buffer of own) buffer.close();
  };
  const keep = <B extends Backend>(opened: B | Missing<BackendId>): B | undefined => {
    if ('reason' in opened) return void missing.push(opened);
    backends.push(opened);
    return opened;
  };
  try {
    const fabric = ids.includes('fabric')
      ? keep(await FabricBackend.open(options).catch((error) => missingFor('fabric', error)))
      : undefined;
    const tensors = fabric?.tensors ?? (await allocate(exchange, world.rank, own));
    const { timeoutMs, gpus } = settings;
    const job: PeerJob = { ...options, buffers: tensors, timeoutMs, gpus };
    for (const id of ids) {
      if (id === 'fabric') continue;
      const refusal = refusalOf(id, exchange.collective, world.size);
      if (refusal !== undefined) missing.push(missingFor(id, new Unavailable(refusal)));
      else keep(asBackend(await openPeerById(id, job), exchange));
    }
    const inOrder = ids.flatMap((id) => backends.filter((backend) => backend.id === id));
    return { backends: inOrder, missing, tensors, fabric, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function asBackend(peer: Peer | Missing, { collective }: Exchange): Backend | Missing {
  if ('reason' in peer) return peer;
  const { id, version } = peer;
  return {
    id,
    version,
    exchange: async () => (await peer.run(collective, { iterations: 1 }))[0]!,
    close: () => peer.close(),
  };
}

/** Without a fabric nothing has to be registered: ordinary memory, on huge pages, touched. */
async function allocate(exchange: Exchange, rank: number, own: HostBuffer[]): Promise<PeerBuffers> {
  own.push(await HostBuffer.prepare(Math.max(64, exchange.sourceBytes(rank))));
  own.push(await HostBuffer.prepare(Math.max(64, exchange.targetBytes(rank))));
  const [input, output] = own;
  return { input: input!, output: output! };
}
