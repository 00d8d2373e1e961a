import { plural } from '../measure/units.js';
import { type Skipped, usableNics } from '../topology/nearest.js';
import { type Machine, type PlaceHere, placeHere } from '../world/launch/machine.js';
import type { NicChoice } from './nics.js';
import type { UnusedNic } from './unused-nic.js';

/** What a rank tells the others of the NICs nearest its GPU. */
export interface GpuRailReport {
  /** By PCI address: the k-th is rail k. Empty without a GPU, or without a NIC that can be used. */
  readonly nics: readonly string[];
  /** All NICs of its host that can be used, for where NICs are not chosen by GPU. */
  readonly all: readonly string[];
  /** NICs of its host that cannot be used, and why. */
  readonly skipped: readonly Skipped[];
}

export function reportGpuRails(
  machine: Machine,
  { localRank, ...options }: PlaceHere & { readonly localRank: number },
): GpuRailReport {
  const place = placeHere(machine, options)?.[localRank];
  const { skipped } = usableNics(machine.topology, options.offered);
  const left = new Set(skipped.map(({ name }) => name));
  const all = (options.offered ?? []).filter((name) => !left.has(name));
  return { nics: place?.nics ?? [], all, skipped };
}

/**
 * All ranks use as many NICs as the rank with fewest has: those near their GPUs, or where some rank has none of these,
 * all that their hosts can use.
 */
export function agreeOnGpuRails(
  reports: readonly GpuRailReport[],
  { rank, hosts }: { readonly rank: number; readonly hosts: readonly string[] },
): NicChoice {
  const without = reports.findIndex(({ nics }) => nics.length === 0);
  const byGpu = without < 0;
  const lists = reports.map(({ nics, all }) => (byGpu ? nics : all));
  const counts = lists.map((list) => list.length);
  const fewest = Math.min(...counts);
  const poorest = counts.indexOf(fewest);
  const few =
    `rank ${poorest} on ${hosts[poorest]} has only ${plural(fewest, 'NIC')}` +
    (byGpu ? ' near its GPU' : '');
  const peer = hosts[poorest]!;
  const unused = reports.flatMap(({ skipped }, one): UnusedNic[] => {
    const host = hosts[one]!;
    const extra = fewest === 0 ? [] : lists[one]!.slice(fewest);
    return [
      ...skipped.map(({ name, reason, text }) => ({ nic: name, host, reason, text })),
      ...extra.map((nic) => ({ nic, host, reason: 'fewer-elsewhere', text: few, peer }) as const),
    ];
  });
  const noGpu = reports.every(({ nics }) => nics.length === 0);
  const notByGpu = `rank ${without} on ${hosts[without]} has no NIC near its GPU`;
  return {
    ...(fewest > 0 && { nics: lists[rank]!.slice(0, fewest) }),
    unused,
    ...(!byGpu && !noGpu && { nicsNotByGpu: notByGpu }),
  };
}
