import type { Topology } from './model.js';
import { pciAddress } from './pci-address.js';

/**
 * What the slowest PCIe link of these GPUs carries in one direction; bytes from one to the other cross them all.
 * Undefined where one of them is not known.
 */
export function slowestLinkGbps(
  { gpus }: Topology,
  addresses: readonly string[],
): number | undefined {
  const links = addresses.map(
    (address) => gpus.find(({ pci }) => pci === pciAddress(address))?.linkGbps,
  );
  return links.some((link) => link === undefined) ? undefined : Math.min(...(links as number[]));
}
