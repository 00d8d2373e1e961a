import { setTimeout as sleep } from 'node:timers/promises';
import { WeftError } from '../../errors.js';
import { addon, isNativeFault } from '../../native/addon.js';
import type { NativePeer } from '../../native/peer.js';
import { type Backend, type BackendId, type BackendJob, together, Unavailable } from './backend.js';

/** A library behind the interface of native/peers/peer.h. */
interface PeerLibrary {
  readonly id: BackendId;
  readonly path: string;
  readonly networkInterface?: string;
  /** CUDA's number of this rank's GPU, where the library uses one. */
  readonly gpu?: number;
  unavailable(reason: string): string;
  /** What to do about an error of the library's, where we know. */
  hint?(reason: string): string | undefined;
}

/** How long a library may take to let go of its connections. */
const closingMs = 5000;

export async function openPeer(job: BackendJob, library: PeerLibrary): Promise<Backend> {
  const { world, exchange, tensors } = job;
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
  const sendBytes = Float64Array.from(exchange.sendBytes(world.rank));
  const receiveBytes = Float64Array.from(exchange.receiveBytes(world.rank));
  const [input, output] = [tensors.input.native, tensors.output.native];
  return {
    id: library.id,
    version: peer.version,
    exchange: () =>
      within(job, library, 'the exchange', () =>
        peer.exchange(input, output, sendBytes, receiveBytes, exchange.uniform),
      ),
    close: () => letGo(peer),
  };
}

function load(library: PeerLibrary): NativePeer {
  try {
    return new (addon().Peer)(library.path, library.id === 'nccl' ? 'nccl' : 'shim');
  } catch (error) {
    if (!isNativeFault(error)) throw error;
    throw new Unavailable(library.unavailable(error.text));
  }
}

function setupOf({ world, exchange, timeoutMs }: BackendJob, library: PeerLibrary) {
  const { networkInterface = '', gpu = 0 } = library;
  return {
    rank: world.rank,
    size: world.size,
    gpu,
    networkInterface,
    timeoutMs,
    sourceBytes: exchange.sourceBytes(world.rank),
    targetBytes: exchange.targetBytes(world.rank),
    elementBytes: exchange.elementBytes,
  };
}

/** These libraries may wait for ever, or longer than we; whoever waits for them has a deadline and hears of failures. */
async function within<T>(
  { world, timeoutMs }: BackendJob,
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
