import { setTimeout as sleep } from 'node:timers/promises';
import { WeftError } from '../errors.js';
import { addon, isNativeFault } from '../native/addon.js';
import { type NativeCollective, type NativePeer, peerKinds, peerTypes } from '../native/peer.js';
import { type Collective, elementBytesOf } from '../plan/collective.js';
import type { PeerId } from '../settings/table.js';
import { type Peer, type PeerJob, together, Unavailable } from './peer.js';

/** A library behind the interface of native/peers/peer.h. */
interface PeerLibrary {
  readonly id: PeerId;
  readonly path: string;
  readonly networkInterface?: string;
  /** CUDA's number of this rank's GPU, where the library uses one: then it is NCCL itself, not a shim of ours. */
  readonly gpu?: number;
  unavailable(reason: string): string;
  /** What to do about an error of the library's, where we know. */
  hint?(reason: string): string | undefined;
}

/** How long a library may take to let go of its connections. */
const closingMs = 5000;

export async function openPeer(job: PeerJob, library: PeerLibrary): Promise<Peer> {
  const { world, buffers } = job;
  let native: NativePeer | undefined;
  try {
    const addresses = await together(world, `${library.id} open`, async () => {
      native = load(library);
      const setup = setupOf(job, library);
      return await within(job, library, 'initialization', () => native!.open(setup));
    });
    await together(world, `${library.id} connect`, () =>
      within(job, library, 'connecting the ranks', () => native!.connect(addresses)),
    );
  } catch (error) {
    await letGo(native);
    throw error;
  }
  const peer = native!;
  const [input, output] = [buffers.input.native, buffers.output.native];
  return {
    id: library.id,
    version: peer.version,
    memory: library.gpu === undefined ? 'pinned' : 'device',
    run: (collective, { iterations, batch = iterations }) => {
      const one = nativeOf(collective, world.rank);
      return within(job, library, nameOf(collective), () =>
        peer.run(input, output, one, iterations, batch),
      );
    },
    close: () => letGo(peer),
  };
}

const nameOf = ({ kind }: Collective): string => (kind === 'alltoallv' ? 'the exchange' : kind);

/** As the addon takes it, of this rank. */
export function nativeOf(collective: Collective, rank: number): NativeCollective {
  const none = new Float64Array();
  const kind = peerKinds.indexOf(collective.kind);
  if (collective.kind !== 'alltoallv') {
    const { bytes, dtype, root = 0 } = collective;
    const element = { type: peerTypes.indexOf(dtype), elementBytes: elementBytesOf(dtype) };
    return { kind, ...element, bytes, root, uniform: true, sendBytes: none, receiveBytes: none };
  }
  const { uniform, elementBytes } = collective;
  return {
    ...{ kind, type: peerTypes.indexOf('opaque'), elementBytes, bytes: 0, root: 0, uniform },
    sendBytes: Float64Array.from(collective.sendBytes(rank)),
    receiveBytes: Float64Array.from(collective.receiveBytes(rank)),
  };
}

function load(library: PeerLibrary): NativePeer {
  try {
    return new (addon().Peer)(library.path, library.gpu === undefined ? 'shim' : 'nccl');
  } catch (error) {
    if (!isNativeFault(error)) throw error;
    throw new Unavailable(library.unavailable(error.text));
  }
}

function setupOf({ world, buffers, timeoutMs }: PeerJob, library: PeerLibrary) {
  const { networkInterface = '', gpu = 0 } = library;
  return {
    rank: world.rank,
    size: world.size,
    gpu,
    networkInterface,
    timeoutMs,
    sourceBytes: buffers.input.bytes,
    targetBytes: buffers.output.bytes,
  };
}

/** These libraries may wait for ever, or longer than we; whoever waits for them has a deadline and hears of failures. */
async function within<T>(
  { world, timeoutMs }: PeerJob,
  library: PeerLibrary,
  what: string,
  begin: () => Promise<T>,
): Promise<T> {
  world.signal.throwIfAborted();
  const over = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: over.signal }).then((): never => {
    throw new WeftError(
      'TIMEOUT',
      `${library.id}: ${what} did not complete within ${timeoutMs} ms`,
      {
        hint: 'Check that every rank is still running and that `iface` names the right interface.',
      },
    );
  });
  const aborted = new Promise<never>((_, reject) => {
    const tell = () => reject(world.signal.reason);
    world.signal.addEventListener('abort', tell, { once: true, signal: over.signal });
  });
  // Whoever loses the race must not be an unhandled rejection.
  late.catch(() => {});
  aborted.catch(() => {});
  try {
    return await Promise.race([begin(), late, aborted]);
  } catch (error) {
    throw explained(error, library, what);
  } finally {
    over.abort();
  }
}

function explained(error: unknown, library: PeerLibrary, what: string): unknown {
  if (!isNativeFault(error)) return error;
  const hint = library.hint?.(error.text);
  return new WeftError('PEER_LIBRARY', `${library.id}: ${what} failed: ${error.text}`, {
    ...(hint !== undefined && { hint }),
    cause: error,
  });
}

/** A library that hangs while it closes is left behind: the process is about to end anyway. */
async function letGo(native: NativePeer | undefined): Promise<void> {
  if (!native) return;
  const over = new AbortController();
  const late = sleep(closingMs, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([native.close().catch(() => {}), late]);
  over.abort();
}
