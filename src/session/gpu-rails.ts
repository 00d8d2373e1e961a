import { usableNics } from '../topology/nearest.js';
import { type Machine, type PlaceHere, placeHere } from '../world/launch/machine.js';

/** What a rank tells the others of the NICs nearest its GPU. */
export interface GpuRailReport {
  /** By PCI address: the k-th is rail k. Empty without a GPU, or without a NIC that can be used. */
  readonly nics: readonly string[];
  /** NICs of its host that cannot be used, and why. */
  readonly skipped: readonly string[];
}

export function reportGpuRails(
  machine: Machine,
  { localRank, ...options }: PlaceHere & { readonly localRank: number },
): GpuRailReport {
  const place = placeHere(machine, options)?.[localRank];
  if (place === undefined) return { nics: [], skipped: [] };
  const { skipped } = usableNics(machine.topology, options.offered);
  return { nics: place.nics, skipped: skipped.map(({ name, reason }) => `${name}: ${reason}`) };
}

/**
 * Rail k of every rank meets rail k of every other, so all use as many as the rank with fewest has. Without `nics` when
 * some rank has none: then NICs are not chosen by GPU, and where others have some, `notByGpu` says why.
 */
export function agreeOnGpuRails(
  reports: readonly GpuRailReport[],
  { rank, hosts }: { readonly rank: number; readonly hosts: readonly string[] },
): { nics?: string[]; leftOut?: string[]; notByGpu?: string } {
  const count = Math.min(...reports.map(({ nics }) => nics.length));
  if (count === 0) return lackOf(reports, hosts);
  const leftOut = reports.flatMap(({ nics, skipped }, one) => [
    ...skipped.map((text) => `${hosts[one]}: ${text}`),
    ...nics
      .slice(count)
      .map((nic) => `${hosts[one]}: ${nic}: another rank has only ${count} NICs near its GPU`),
  ]);
  return { nics: reports[rank]!.nics.slice(0, count), leftOut: [...new Set(leftOut)] };
}

function lackOf(
  reports: readonly GpuRailReport[],
  hosts: readonly string[],
): { notByGpu?: string } {
  if (reports.every(({ nics }) => nics.length === 0)) return {};
  const lacking = reports.findIndex(({ nics }) => nics.length === 0);
  return { notByGpu: `rank ${lacking} on ${hosts[lacking]} has none near a GPU` };
}
