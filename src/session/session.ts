import { cpus } from 'node:os';
import type { Gap } from '../analysis/diagnosis/gaps.js';
import { DeviceEngine } from '../engine/device-engine.js';
import { FabricEngine } from '../engine/fabric-engine.js';
import { WeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import { listNics } from '../fabric/nics.js';
import type { Link } from '../plan/bound.js';
import type { FabricSettings } from '../settings/table.js';
import type { World } from '../world/world.js';
import { chooseFabric } from './choose-fabric.js';
import { type Devices, openDevices } from './devices.js';
import { openReaching } from './reaching-fabric.js';

/** What a benchmark runs on: a connected fabric, and an engine over it. Closing it leaves the world open. */
export interface Session extends AsyncDisposable {
  readonly world: World;
  readonly fabric: Fabric;
  readonly engine: FabricEngine;
  /** For plans over GPU memory, or why there is none; undefined where nobody asked. */
  readonly device: DeviceEngine | { readonly unavailable: string } | undefined;
  readonly links: readonly Link[];
  /** Of the shapers that make the line rates, if any do: the largest. */
  readonly burstBytes: number;
  /** NICs near the GPUs that are not used, and why, in words. */
  readonly leftOutNics: readonly string[];
  /** Why every NIC is used although some ranks have NICs near their GPUs. */
  readonly nicsNotByGpu?: string;
  /** What was left out because it does not carry; empty unless the benchmark asked to be told. */
  readonly gaps: readonly Gap[];
}

const spinsBeforeYield = 400;

export interface SessionOptions {
  /** `report` leaves out rails that do not reach everyone, as long as one does, and tells of them. */
  readonly gaps?: 'refuse' | 'report';
  /** For buffers in GPU memory, too. */
  readonly deviceMemory?: boolean;
}

export async function openSession(
  world: World,
  settings: FabricSettings,
  { gaps = 'refuse', deviceMemory = false }: SessionOptions = {},
): Promise<Session> {
  const report = gaps === 'report';
  const { options, unplugged, leftOut, notByGpu } = await chooseFabric(
    world,
    settings,
    report ? 'leave-out' : 'refuse',
  );
  const devices = deviceMemory ? await openDevices(world, settings, options) : undefined;
  const direct = devices !== undefined && 'access' in devices && 'path' in devices.access;
  const wanted = { ...options, ...(direct && { deviceMemory: true }) };
  const how = { timeoutMs: settings.timeoutMs, report, asked: settings.nics !== undefined };
  const { fabric, left, unopened } = await openReaching(world, wanted, how);
  try {
    const loose = unplugged.flatMap(({ nic, hosts }) => hosts.map((from): Gap => ({ nic, from })));
    const found = {
      devices,
      gaps: [...loose, ...left],
      leftOutNics: [...leftOut, ...unopened],
      ...(notByGpu && { nicsNotByGpu: notByGpu }),
    };
    return sessionOn(world, fabric, settings, found);
  } catch (error) {
    await fabric.close();
    throw error;
  }
}

function sessionOn(
  world: World,
  fabric: Fabric,
  settings: FabricSettings,
  {
    devices,
    ...found
  }: Pick<Session, 'gaps' | 'leftOutNics' | 'nicsNotByGpu'> & { devices: Devices | undefined },
): Session {
  const engine = new FabricEngine({
    world,
    fabric,
    timeoutMs: settings.timeoutMs,
    spinsBeforeYield: isCrowded(world) ? 0 : spinsBeforeYield,
  });
  const device = deviceEngine(devices, engine, settings);
  return {
    world,
    fabric,
    engine,
    device,
    links: fabric.channels.map((channel) => ({
      nic: channel.nic,
      lineRateGbps: settings.lineRateGbps ?? channel.lineRateGbps,
    })),
    burstBytes: burstOf(fabric),
    ...found,
    // The fabric closes what is registered with it, also what a failed run left in use; the rest goes after it.
    [Symbol.asyncDispose]: async () => {
      await fabric.close();
      if (device instanceof DeviceEngine) await device[Symbol.asyncDispose]();
    },
  };
}

function deviceEngine(
  devices: Devices | undefined,
  staging: FabricEngine,
  { chunkBytes }: FabricSettings,
): Session['device'] {
  if (devices === undefined || 'unavailable' in devices) return devices;
  return new DeviceEngine({ ...devices, staging, pieceBytes: chunkBytes ?? stagedPieceBytes });
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

/**
 * What a staged transfer is cut into. Only the first copy from and the last copy to the GPU are not hidden behind the
 * transfer: small pieces keep those short. Each piece costs some microseconds on the fabric and in CUDA: large pieces
 * keep those few. Of 0.5, 1, 2 and 4 MiB this was the best on an H200, over shm.
 */
const stagedPieceBytes = 2 ** 20;

// On shm every chunk costs a command and its answer, and the copy is the peer's: few, large ones win.
const shmPacing = { chunkBytes: 16 * 2 ** 20, window: 4 };
const networkPacing = { chunkBytes: 2 ** 20, window: 16 };
