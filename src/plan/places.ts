import type { Wiring } from './bound.js';

/** Numbers the groups of ranks that share NICs. */
export function placesOf(
  world: number,
  { hosts, nics, localOverNics = false }: Wiring = { hosts: [] },
) {
  const apart = new Set(hosts).size > 1;
  if (!apart && !localOverNics) {
    return { places: world, placeOf: (rank: number) => rank, isLocal: () => false };
  }
  const numbers = new Map<string, number>();
  const placeOfRank = hosts.map((host, rank) => {
    const key = JSON.stringify([host, nics?.[rank]]);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
  return {
    places: numbers.size,
    placeOf: (rank: number) => placeOfRank[rank]!,
    isLocal: (a: number, b: number) => !localOverNics && hosts[a] === hosts[b],
  };
}
