import { type Skipped, usableNics } from '../topology/nearest.js';
import { type Machine, type PlaceHere, placeHere } from '../world/launch/machine.js';
import type { NicChoice } from './nics.js';
import type { UnusedNic } from './unused-nic.js';

/** What a rank tells the others of the NICs nearest its GPU. */
export interface GpuRailReport {
  /** By PCI address: the k-th is rail k. Empty without a GPU, or without a NIC that can be used. */
  readonly nics: readonly string[];
  /** NICs of its host that cannot be used, and why. */
  readonly skipped: readonly Skipped[];
}

export function reportGpuRails(
  machine: Machine,
  { localRank, ...options }: PlaceHere & { readonly localRank: number },
): GpuRailReport {
  const place = placeHere(machine, options)?.[localRank];
  if (place === undefined) return { nics: [], skipped: [] };
  return { nics: place.nics, skipped: usableNics(machine.topology, options.offered).skipped };
}

/** All ranks use as many NICs as the rank with fewest has. When that has none, NICs are not chosen by GPU. */
export function agreeOnGpuRails(
  reports: readonly GpuRailReport[],
  { rank, hosts }: { readonly rank: number; readonly hosts: readonly string[] },
): NicChoice {
  const counts = reports.map(({ nics }) => nics.length);
  const fewest = Math.min(...counts);
  const poorest = counts.indexOf(fewest);
  const who = `rank ${poorest} on ${hosts[poorest]}`;
  if (fewest === 0) {
    const none = counts.every((count) => count === 0);
    return { unused: [], ...(!none && { nicsNotByGpu: `${who} has no NIC near its GPU` }) };
  }
  const few = `${who} has only ${fewest} ${fewest === 1 ? 'NIC' : 'NICs'} near its GPU`;
  const peer = hosts[poorest]!;
  const unused = reports.flatMap(({ nics, skipped }, one): UnusedNic[] => {
    const host = hosts[one]!;
    return [
      ...skipped.map(({ name, reason, text }) => ({ nic: name, host, reason, text })),
      ...nics
        .slice(fewest)
        .map((nic) => ({ nic, host, reason: 'fewer-elsewhere', text: few, peer }) as const),
    ];
  });
  return { nics: reports[rank]!.nics.slice(0, fewest), unused };
}
