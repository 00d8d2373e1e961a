import type { DeviceEngine } from '../engine/device-engine.js';
import type { BufferSizes } from '../engine/engine.js';
import { isWeftError } from '../errors.js';
import type { Session } from '../session/session.js';
import type { Turn } from './benchmark.js';
import type { Column } from './columns.js';
import { type PlanJob, rowSizes, turnsOf } from './job.js';
import {
  type GpuRoom,
  gatherAvailable,
  gpuMisfit,
  misfit,
  type Need,
  needsOf,
} from './memory-plan.js';

/** One row to be. */
export interface Cell {
  readonly column: Column;
  readonly bytes: number;
}

/** What is to be measured and what does not fit, with the reason. The same on every rank. */
interface Fitting {
  readonly cells: readonly Cell[];
  readonly misfits: readonly (Cell & { readonly reason: string })[];
}

/** The engine for GPU memory, if there is one. */
export function deviceOf({ device }: Session): DeviceEngine | undefined {
  return device === undefined || 'unavailable' in device ? undefined : device;
}

/** Whether a column needs host memory: its own, or what GPU memory is staged through. */
const usesHost = (column: Column, session: Session): boolean =>
  column.memory.id === 'pinned' || deviceOf(session)?.memory === 'staged';

/** Smallest sizes first, and the columns of a size in their order. */
export async function fitCells(
  job: PlanJob,
  columns: readonly Column[],
  session: Session,
): Promise<Fitting> {
  const { world } = session;
  const available = await gatherAvailable(world);
  const rooms = await gatherRooms(session);
  const canRead = (await world.allgather('reads', session.fabric.reads)).every(Boolean);
  const how = {
    ...{ provider: session.fabric.provider, canRead },
    staged: deviceOf(session)?.memory === 'staged',
  };
  const cells: Cell[] = [];
  const misfits: (Cell & { reason: string })[] = [];
  for (const bytes of rowSizes(job)) {
    const needs = (which: readonly Column[]) => needsOf(job, which, world.hosts, bytes);
    const host = columns.filter((column) => usesHost(column, session));
    const hostReason = misfit(world, needs(host), available);
    const device = columns.filter(({ memory }) => memory.id === 'device');
    const deviceReason = rooms && gpuMisfit(world, needs(device), rooms);
    const messageReason = messageMisfit(job, session, bytes);
    for (const column of columns) {
      const reason =
        messageReason ??
        readMisfit(how, column, needs([column])) ??
        sumMisfit(column, turnsOf(job, world.hosts, bytes, column)) ??
        (usesHost(column, session) ? hostReason : undefined) ??
        (column.memory.id === 'device' ? deviceReason : undefined);
      if (reason === undefined) cells.push({ column, bytes });
      else misfits.push({ column, bytes, reason });
    }
  }
  return { cells, misfits };
}

/** Why a benchmark whose transfers are not cut cannot run at this size. */
function messageMisfit({ benchmark }: PlanJob, { fabric }: Session, bytes: number) {
  const most = Math.min(...fabric.channels.map((channel) => channel.maxMessageBytes));
  if (!benchmark.wholeMessages || bytes <= most) return undefined;
  return `${fabric.provider} sends messages of at most ${most} bytes`;
}

/** Why a column whose ranks read from each other cannot run. `staged`: GPU memory is reached through the host. */
export function readMisfit(
  how: { readonly provider: string; readonly canRead: boolean; readonly staged: boolean },
  { memory }: Column,
  needs: readonly Need[],
): string | undefined {
  if (!needs.some(({ readable }) => readable)) return undefined;
  if (!how.canRead) return `${how.provider} does not support remote reads`;
  if (memory.id !== 'device' || !how.staged) return undefined;
  return 'peers cannot read GPU memory that is staged through the host';
}

function sumMisfit({ memory }: Column, turns: readonly Turn[]): string | undefined {
  const adds = turns.some(({ traffic }) => traffic.numbers?.dtype === 'int32');
  return memory.id === 'device' && adds ? 'GPUs add floating-point numbers only' : undefined;
}

/** Undefined where ranks have no GPU in use. */
export async function gatherRooms(session: Session): Promise<GpuRoom[] | undefined> {
  const gpu = deviceOf(session)?.gpu;
  if (gpu === undefined) return undefined;
  const { members, rank } = session.world;
  const id = `${members[rank]!.bootId} ${gpu.description.pci}`;
  return session.world.allgather<GpuRoom>('GPU memory', { id, freeBytes: gpu.freeBytes() });
}

/**
 * One pair of buffers of each kind serves all sizes: the largest decides. Returns why those in GPU memory could not be
 * made, the same on every rank, or undefined.
 */
export async function prepareEngines(
  job: PlanJob,
  session: Session,
  cells: readonly Cell[],
): Promise<string | undefined> {
  const { world, engine } = session;
  const most = (which: readonly Cell[]) => {
    const needs = which.map(
      ({ column, bytes }) => needsOf(job, [column], world.hosts, bytes)[world.rank]!,
    );
    const largest = (pick: (need: Need) => number) => Math.max(64, ...needs.map(pick));
    return {
      sourceBytes: largest((need) => need.sourceBytes),
      targetBytes: largest((need) => need.targetBytes),
      readable: needs.some(({ readable }) => readable),
    };
  };
  const host = cells.filter(({ column }) => usesHost(column, session));
  if (host.length > 0) await engine.prepare(most(host));
  const device = cells.filter(({ column }) => column.memory.id === 'device');
  const gpu = deviceOf(session);
  return device.length === 0 || !gpu ? undefined : prepareDevice(gpu, most(device));
}

/** Why buffers in GPU memory could not be made, the same on every rank, or undefined. */
export async function prepareDevice(
  device: DeviceEngine,
  sizes: BufferSizes,
): Promise<string | undefined> {
  try {
    await device.prepare(sizes);
    return undefined;
  } catch (error) {
    if (!isWeftError(error, 'MEMORY_LIMIT')) throw error;
    return error.message;
  }
}
