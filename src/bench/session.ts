import { cpus } from 'node:os';
import { FabricEngine } from '../engine/fabric-engine.js';
import { WeftError } from '../errors.js';
import { type Fabric, openFabric } from '../fabric/fabric.js';
import { listNics } from '../fabric/nics.js';
import type { Link } from '../plan/bound.js';
import { chooseFabric, onOneHost } from '../world/choose-fabric.js';
import { connectFabric } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';
import { requireReach } from './reachability.js';
import { sabotageFromEnvironment } from './sabotage.js';
import type { FabricSettings } from './settings.js';

/** What a benchmark runs on: a connected fabric, and an engine over it. Closing it leaves the world open. */
export interface Session extends AsyncDisposable {
  readonly world: World;
  readonly fabric: Fabric;
  readonly engine: FabricEngine;
  readonly links: readonly Link[];
  /** Of the shapers that make the line rates, if any do: the largest. */
  readonly burstBytes: number;
}

const spinsBeforeYield = 400;

export async function openSession(world: World, settings: FabricSettings): Promise<Session> {
  const choice = await chooseFabric(world, settings);
  const fabric = await openFabric({ ...choice, peersExpected: world.size });
  try {
    await connectFabric(world, fabric);
    if (!onOneHost(world)) await requireReach(world, fabric, settings.timeoutMs);
    const crowded = isCrowded(world);
    const sabotage = sabotageFromEnvironment(world.rank);
    const engine = new FabricEngine({
      world,
      fabric,
      timeoutMs: settings.timeoutMs,
      spinsBeforeYield: crowded ? 0 : spinsBeforeYield,
      ...(sabotage && { sabotage }),
    });
    return {
      world,
      fabric,
      engine,
      links: fabric.channels.map((channel) => ({
        nic: channel.nic,
        lineRateGbps: settings.lineRateGbps ?? channel.lineRateGbps,
      })),
      burstBytes: burstOf(fabric),
      // The fabric closes the engine's buffers, also those that a failed run left in use.
      [Symbol.asyncDispose]: () => fabric.close(),
    };
  } catch (error) {
    await fabric.close();
    throw error;
  }
}

/**
 * Of the machine, not of this rank: a pinned rank has a core to itself. Where hosts share a machine, so does the
 * network between them, and it needs the cores, too.
 */
function isCrowded({ members, rank }: World): boolean {
  const here = members.filter(({ bootId }) => bootId === members[rank]?.bootId);
  return here.length > cpus().length || here.some(({ netns }) => netns !== members[rank]?.netns);
}

function burstOf(fabric: Fabric): number {
  const used = new Set(fabric.channels.map((channel) => channel.nic));
  const nics = listNics().filter((nic) => used.has(nic.name));
  return Math.max(0, ...nics.map((nic) => nic.burstBytes ?? 0));
}

/** What was measured to be good. */
export const preferredPacing = (provider: string): { chunkBytes: number; window: number } =>
  provider === 'shm' ? shmPacing : networkPacing;

/** The pacing of plans on this fabric: asked for, or what was measured to be good, within the provider's queues. */
export function pacingFor(
  fabric: Fabric,
  settings: Pick<FabricSettings, 'chunkBytes' | 'window'>,
  world: number,
): { chunkBytes: number; window: number; reduced: boolean } {
  const preferred = preferredPacing(fabric.provider);
  const limits = fabric.channels.flatMap(({ sendQueue, receiveQueue }) => [
    sendQueue,
    Math.floor(receiveQueue / Math.max(1, world - 1)),
  ]);
  const wanted = settings.window ?? preferred.window;
  const window = Math.max(1, Math.min(wanted, ...limits));
  const chunkBytes = Math.min(
    settings.chunkBytes ?? preferred.chunkBytes,
    ...fabric.channels.map((channel) => channel.maxMessageBytes),
  );
  if (!(chunkBytes > 0)) throw new WeftError('BAD_USAGE', '--chunk must be at least 1 byte');
  return { chunkBytes, window, reduced: window < wanted };
}

// On shm every chunk costs a command and its answer, and the copy is the peer's: few, large ones win.
const shmPacing = { chunkBytes: 16 * 2 ** 20, window: 4 };
const networkPacing = { chunkBytes: 2 ** 20, window: 16 };
