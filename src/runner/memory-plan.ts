import { readFileSync } from 'node:fs';
import { groupBy } from '../measure/group.js';
import { formatBytesRounded } from '../measure/units.js';
import type { World } from '../world/world.js';
import type { Column } from './columns.js';
import { type PlanJob, situationOf, turnsOf } from './job.js';

/** Kept free on each host for everything that is not a buffer, per rank. */
const overheadBytes = 192 * 2 ** 20;

/** What a rank's two buffers must hold for one size. */
export interface Need {
  readonly sourceBytes: number;
  readonly targetBytes: number;
  /** Others read its source buffer. */
  readonly readable?: boolean;
}

/** The largest buffers any column and turn needs, for every rank. */
export function needsOf(
  job: PlanJob,
  columns: readonly Column[],
  hosts: readonly string[],
  bytes: number,
): Need[] {
  const traffics = columns.flatMap((column) =>
    turnsOf(job, hosts, bytes, column).map((turn) => turn.traffic),
  );
  const around = columns.flatMap((column) => {
    // Other libraries pack and add in host memory only.
    if (!job.settings.against || column.memory.id === 'device') return [];
    return job.benchmark.aroundCall?.(situationOf(job, hosts, bytes, column)) ?? [];
  });
  return hosts.map((_, rank) => ({
    sourceBytes: Math.max(0, ...traffics.map((traffic) => traffic.sourceBytes(rank))),
    targetBytes: Math.max(0, ...[...traffics, ...around].map((one) => one.targetBytes(rank))),
    readable: traffics.some((traffic) => traffic.readable),
  }));
}

/** Memory that could be had on each rank's host, by rank; learnt before anything is allocated. */
export function gatherAvailable(world: World): Promise<number[]> {
  return world.allgather('available memory', availableBytes());
}

/** Memory that could be had on this host. */
export function availableBytes(): number {
  const match = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'));
  return match ? Number(match[1]) * 1024 : Number.POSITIVE_INFINITY;
}

/** Why this size cannot run, with the sum, or undefined when it can. The same answer on every rank. */
export function misfit(
  world: World,
  needs: readonly Need[],
  available: readonly number[],
): string | undefined {
  for (const members of groupBy(world.members, ({ bootId }) => bootId).values()) {
    const ranks = members.map(({ rank }) => rank);
    const buffers = sumOf(needs, ranks);
    const total = buffers + ranks.length * overheadBytes;
    const free = Math.min(...ranks.map((rank) => available[rank]!));
    if (total > free) {
      const host = world.hosts[ranks[0]!];
      return (
        `${ranks.length} ranks on ${host} need ${formatBytesRounded(buffers)} for buffers and ` +
        `${formatBytesRounded(ranks.length * overheadBytes)} for the processes; ${formatBytesRounded(free)} is free`
      );
    }
  }
  return undefined;
}

const sumOf = (needs: readonly Need[], ranks: readonly number[]): number =>
  ranks.reduce((sum, rank) => sum + needs[rank]!.sourceBytes + needs[rank]!.targetBytes, 0);

/** A rank's GPU, as far as it limits sizes. */
export interface GpuRoom {
  /** Unlike any other GPU's of the world; ranks may share one. */
  readonly id: string;
  readonly freeBytes: number;
}

/** Kept free on each GPU for CUDA's own, per rank. */
const gpuOverheadBytes = 64 * 2 ** 20;

/** As `misfit`, for buffers in GPU memory. */
export function gpuMisfit(
  world: Pick<World, 'hosts'>,
  needs: readonly Need[],
  rooms: readonly GpuRoom[],
): string | undefined {
  for (const { id } of rooms) {
    const ranks = rooms.flatMap((room, rank) => (room.id === id ? [rank] : []));
    const buffers = sumOf(needs, ranks);
    const free = Math.min(...ranks.map((rank) => rooms[rank]!.freeBytes));
    if (buffers + ranks.length * gpuOverheadBytes <= free) continue;
    const who = ranks.length === 1 ? `rank ${ranks[0]} needs` : `${ranks.length} ranks need`;
    return (
      `${who} ${formatBytesRounded(buffers)} for buffers on one GPU of ${world.hosts[ranks[0]!]}; ` +
      `${formatBytesRounded(free)} is free`
    );
  }
  return undefined;
}
