import { cpus } from 'node:os';
import { FabricEngine } from '../engine/fabric-engine.js';
import { WeftError } from '../errors.js';
import { type Fabric, type FabricOptions, openFabric } from '../fabric/fabric.js';
import { listNics } from '../fabric/nics.js';
import type { Link } from '../plan/bound.js';
import type { Gap } from '../results/diagnosis/gaps.js';
import { chooseFabric, onOneHost } from '../world/choose-fabric.js';
import { connectFabric } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';
import { findGaps, refuseGaps, requireReach } from './reachability.js';
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
  /** What was left out because it does not carry; empty unless the benchmark asked to be told. */
  readonly gaps: readonly Gap[];
}

const spinsBeforeYield = 400;

export interface SessionOptions {
  /** `report` leaves out rails that do not reach everyone, as long as one does, and tells of them. */
  readonly gaps?: 'refuse' | 'report';
}

/** A rail that was left out must not make everyone wait as long as one that must work. */
const reportWithinMs = 4000;
const reportLongerByRankMs = 20;

export async function openSession(
  world: World,
  settings: FabricSettings,
  { gaps = 'refuse' }: SessionOptions = {},
): Promise<Session> {
  const report = gaps === 'report';
  const chosen = await chooseFabric(world, settings, report ? 'leave-out' : 'refuse');
  const { fabric, left } = await openReaching(world, chosen.options, settings.timeoutMs, report);
  try {
    const unplugged = chosen.unplugged.flatMap(({ nic, hosts }) =>
      hosts.map((from): Gap => ({ nic, from })),
    );
    return sessionOn(world, fabric, settings, [...unplugged, ...left]);
  } catch (error) {
    await fabric.close();
    throw error;
  }
}

/** A fabric on which every rail reaches every rank; where that may be, without the rails that do not. */
async function openReaching(
  world: World,
  options: FabricOptions,
  timeoutMs: number,
  report: boolean,
): Promise<{ fabric: Fabric; left: Gap[] }> {
  const fabric = await openFabric({ ...options, peersExpected: world.size });
  try {
    await connectFabric(world, fabric);
    if (onOneHost(world)) return { fabric, left: [] };
    if (!report) {
      await requireReach(world, fabric, timeoutMs);
      return { fabric, left: [] };
    }
    const deadlineMs = Math.min(timeoutMs / 2, reportWithinMs + reportLongerByRankMs * world.size);
    const gaps = await findGaps(world, fabric, deadlineMs);
    if (gaps.length === 0) return { fabric, left: [] };
    const nics = fabric.channels.map(({ nic }) => nic);
    const good = nics.filter((_, rail) => !gaps.some((gap) => gap.rail === rail));
    if (good.length === 0) await refuseGaps(world, fabric, gaps);
    const left = gaps.map(({ rail, from, to }) => ({
      nic: nics[rail]!,
      from: world.hosts[from]!,
      to: world.hosts[to]!,
    }));
    await fabric.close();
    const { channels: _, ...rest } = options;
    const again = await openReaching(world, { ...rest, nics: good }, timeoutMs, report);
    return { fabric: again.fabric, left: [...left, ...again.left] };
  } catch (error) {
    await fabric.close();
    throw error;
  }
}

function sessionOn(world: World, fabric: Fabric, settings: FabricSettings, gaps: readonly Gap[]) {
  const sabotage = sabotageFromEnvironment(world.rank);
  const engine = new FabricEngine({
    world,
    fabric,
    timeoutMs: settings.timeoutMs,
    spinsBeforeYield: isCrowded(world) ? 0 : spinsBeforeYield,
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
    gaps,
    // The fabric closes the engine's buffers, also those that a failed run left in use.
    [Symbol.asyncDispose]: () => fabric.close(),
  };
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
