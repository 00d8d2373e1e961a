import { type DeviceAccess, findDeviceAccess } from '../fabric/device-access.js';
import type { FabricOptions } from '../fabric/fabric.js';
import { type Gpu, gpuAvailability, openGpu } from '../gpu/gpu.js';
import type { FabricSettings } from '../settings/table.js';
import type { World } from '../world/world.js';

/** This rank's GPU and how its memory is reached; with `unavailable`, why DMA columns are left out. */
export type Devices =
  | { readonly gpu: Gpu; readonly access: DeviceAccess }
  | { readonly unavailable: string };

/** CUDA's number of a local rank's GPU: ranks take those that were asked for, or all, in turn. */
export function gpuNumberOf(
  localRank: number,
  gpus: number,
  asked: readonly number[] | undefined,
): number | undefined {
  if (asked !== undefined) return asked[localRank % asked.length];
  return gpus === 0 ? undefined : localRank % gpus;
}

/**
 * Opens every rank's GPU, before any host memory is made, which is thereby made known to CUDA. All ranks get the same
 * kind of answer: DMA columns run where every rank has a GPU, and directly where every rank's fabric reaches it.
 */
export async function openDevices(
  world: World,
  settings: Pick<FabricSettings, 'gpus'>,
  choice: FabricOptions,
): Promise<Devices> {
  const mine = openOwn(world, settings);
  const reasons = await world.allgather('GPUs', 'reason' in mine ? mine.reason : null);
  const lacking = reasons.findIndex((reason) => reason !== null);
  if (lacking >= 0 || 'reason' in mine) {
    return { unavailable: `rank ${lacking} on ${world.hosts[lacking]}: ${reasons[lacking]}` };
  }
  return { gpu: mine.gpu, access: await agreeOnAccess(world, choice, mine.gpu) };
}

function openOwn(
  world: World,
  { gpus: asked }: Pick<FabricSettings, 'gpus'>,
): { gpu: Gpu } | { reason: string } {
  const availability = gpuAvailability();
  if ('reason' in availability) return { reason: availability.reason.message };
  const number = gpuNumberOf(world.localRank, availability.gpus.length, asked);
  return { gpu: openGpu(number ?? 0) };
}

async function agreeOnAccess(world: World, choice: FabricOptions, gpu: Gpu): Promise<DeviceAccess> {
  const mine = await findDeviceAccess(choice, gpu);
  const everyones = await world.allgather<DeviceAccess>('access to GPU memory', mine);
  return everyones.find((access) => 'reason' in access) ?? mine;
}
