import { DeviceEngine } from '../engine/device-engine.js';
import { FabricEngine } from '../engine/fabric-engine.js';
import { isCrowded, spinsFor } from '../engine/spinning.js';
import type { Fabric, FabricChannelInfo, FabricOptions } from '../fabric/fabric.js';
import { loadLibrary } from '../fabric/library.js';
import { listNics } from '../fabric/nics.js';
import { isSockets } from '../fabric/providers.js';
import type { Link, Wiring } from '../plan/bound.js';
import type { FabricSettings } from '../settings/table.js';
import { connectFabric } from '../world/connect-fabric.js';
import { onOneHost } from '../world/same-host.js';
import type { World } from '../world/world.js';
import { type Devices, openDevices } from './devices.js';
import { type OpenedFabric, onNics, openEndpoints } from './endpoints.js';
import type { FabricWish, GapPolicy } from './fabric-wish.js';
import { agreeOnNics, type NicChoice } from './nics.js';
import { stagedPieceBytes } from './pacing.js';
import { PathMeter } from './path/path-meter.js';
import type { Routes } from './path/routes.js';
import { preflight } from './preflight/preflight.js';
import { agreeOnProvider } from './provider.js';
import { checkReach, type Reach, type ReachOptions } from './reach.js';
import { distinct, type UnusedNic } from './unused-nic.js';

/** What a benchmark runs on: a connected fabric, and an engine over it. Closing it leaves the world open. */
export interface Session extends AsyncDisposable {
  readonly world: World;
  readonly fabric: Fabric;
  readonly engine: FabricEngine;
  /** For plans over GPU memory, or why there is none; undefined where nobody asked. */
  readonly device: DeviceEngine | { readonly unavailable: string } | undefined;
  readonly links: readonly Link[];
  readonly wiring: Wiring;
  /** Which NICs carry what plans send. */
  readonly path: PathMeter;
  /** Of the shapers that make the line rates, if any do: the largest. */
  readonly burstBytes: number;
  /** NICs of any host that could have been rails, and why they are not. */
  readonly unusedNics: readonly UnusedNic[];
  /** Why every NIC is used although some ranks have NICs near their GPUs. */
  readonly nicsNotByGpu?: string;
  /** What the preflight found that does not stop the job; on rank 0. */
  readonly warnings: readonly string[];
}

/** The provider and NICs of every rank. Nothing is open yet. */
export interface AgreedFabric extends Pick<NicChoice, 'unused' | 'nicsNotByGpu'> {
  /** What this rank opens. */
  readonly options: FabricOptions;
  /** The user named the NICs: each of them must open. */
  readonly named: boolean;
}

export interface SessionOptions {
  /** Default: refuse. */
  readonly gaps?: GapPolicy;
  /** For buffers in GPU memory, too. */
  readonly deviceMemory?: boolean;
  /** Default: what `agreeOnFabric` makes of the settings. */
  readonly agreed?: AgreedFabric;
}

/** What opening a session would open. Every rank calls it. */
export async function agreeOnFabric(
  world: World,
  wish: FabricWish,
  gaps?: GapPolicy,
): Promise<AgreedFabric> {
  const { channels, gpus, socketNics, localShm } = wish;
  loadLibrary({ localShm });
  const provider = await agreeOnProvider(world, wish);
  const asked = wish.nics ?? (isSockets(provider) ? socketNics : undefined);
  const { nics, ...found } = await agreeOnNics(world, provider, { nics: asked, gpus }, gaps);
  return { options: { provider, channels, nics, localShm }, named: asked !== undefined, ...found };
}

/** From a world to an engine: every rank calls it, and all of them take each step together. */
export async function openSession(
  world: World,
  settings: FabricSettings,
  { gaps = 'refuse', deviceMemory = false, agreed }: SessionOptions = {},
): Promise<Session> {
  const { options, named, unused, nicsNotByGpu } =
    agreed ?? (await agreeOnFabric(world, settings, gaps));
  const warnings = await preflight(world, options, gaps);
  const devices = deviceMemory ? await openDevices(world, settings, options) : undefined;
  const wanted = {
    ...options,
    peersExpected: world.size,
    ...(isDirect(devices) && { deviceMemory: true }),
  };
  const { timeoutMs } = settings;
  const opened = await openReaching(world, wanted, { named, timeoutMs, gaps });
  try {
    return sessionOn(world, opened.fabric, settings, devices, {
      path: await PathMeter.open(world, opened.fabric, settings.localShm),
      unusedNics: distinct([...unused, ...opened.unused]),
      ...(nicsNotByGpu && { nicsNotByGpu }),
      warnings: [...warnings, ...opened.warnings],
    });
  } catch (error) {
    await opened.fabric.close();
    throw error;
  }
}

/** Opens endpoints, connects them and checks that they reach everyone; opens again without the rails that do not. */
async function openReaching(
  world: World,
  options: FabricOptions,
  how: ReachOptions & { readonly named: boolean },
): Promise<OpenedFabric & Pick<Reach, 'warnings'>> {
  const { fabric, unused } = await openEndpoints(world, options, how.named);
  try {
    await connectFabric(world, fabric);
    const reach = await checkReach(world, fabric, how);
    if (reach.unused.length === 0) return { fabric, unused, warnings: [] };
    await fabric.close();
    const again = await openReaching(world, onNics(options, reach.reaching), how);
    return {
      fabric: again.fabric,
      unused: [...unused, ...reach.unused, ...again.unused],
      warnings: [...reach.warnings, ...again.warnings],
    };
  } catch (error) {
    await fabric.close();
    throw error;
  }
}

function sessionOn(
  world: World,
  fabric: Fabric,
  settings: FabricSettings,
  devices: Devices | undefined,
  found: Pick<Session, 'path' | 'unusedNics' | 'nicsNotByGpu' | 'warnings'>,
): Session {
  const engine = new FabricEngine({
    world,
    fabric,
    timeoutMs: settings.timeoutMs,
    spinsBeforeYield: spinsFor(isCrowded(world)),
  });
  const device = deviceEngine(devices, engine, settings);
  const overShm = fabric.localShm?.allowed === true && onOneHost(world);
  return {
    world,
    fabric,
    engine,
    device,
    links: fabric.channels.map((channel) => linkOf(channel, settings, overShm)),
    wiring: wiringOf(found.path.routes),
    burstBytes: burstOf(fabric),
    ...found,
    // The fabric closes what is registered with it, also what a failed run left in use; the rest goes after it.
    [Symbol.asyncDispose]: async () => {
      await fabric.close();
      if (device instanceof DeviceEngine) await device[Symbol.asyncDispose]();
    },
  };
}

const wiringOf = ({ hostOf, nics, provider, localShm }: Routes): Wiring => ({
  hosts: hostOf.map(String),
  nics,
  // A verbs adapter may turn round by itself what it sends to itself: its line rate is no limit then.
  localOverNics: /^efa\b/.test(provider) && !localShm,
});

/** What bypasses the NIC is not measured against it. */
const linkOf = (
  { nic, lineRateGbps }: FabricChannelInfo,
  settings: FabricSettings,
  overShm: boolean,
): Link =>
  overShm ? { nic: 'shm' } : { nic, lineRateGbps: settings.lineRateGbps ?? lineRateGbps };

const isDirect = (devices: Devices | undefined): boolean =>
  devices !== undefined && 'access' in devices && 'path' in devices.access;

function deviceEngine(
  devices: Devices | undefined,
  staging: FabricEngine,
  { chunkBytes }: FabricSettings,
): Session['device'] {
  if (devices === undefined || 'unavailable' in devices) return devices;
  return new DeviceEngine({ ...devices, staging, pieceBytes: chunkBytes ?? stagedPieceBytes });
}

function burstOf(fabric: Fabric): number {
  const used = new Set(fabric.channels.map((channel) => channel.nic));
  const nics = listNics().filter((nic) => used.has(nic.name));
  return Math.max(0, ...nics.map((nic) => nic.burstBytes ?? 0));
}
