/** The rank that rank 0 plays with alone: the first on another host, where there is one. */
export function partnerOf(hosts: readonly string[]): number {
  const elsewhere = hosts.findIndex((host) => host !== hosts[0]);
  return elsewhere < 0 ? 1 : elsewhere;
}

/** Everyone but rank 0. */
export const peersOf = (world: number): number[] =>
  Array.from({ length: world - 1 }, (_, index) => index + 1);
