import { z } from 'zod';
import { groupBy } from '../measure/group.js';
import { formatList, parseList } from '../topology/cpu-set.js';

/** What should be equal on every host, in the order in which it is shown: the key, and what people call it. */
export const factTitles = {
  machine: 'machine',
  nics: 'NICs',
  mtu: 'MTU',
  link: 'link',
  pcie: 'PCIe of the NICs',
  driver: 'NIC driver',
  firmware: 'NIC firmware',
  gpus: 'GPUs',
  gpuPcie: 'PCIe of the GPUs',
  gpuDriver: 'GPU driver',
  libfabric: 'libfabric',
  kernel: 'kernel',
  clockSource: 'clock source',
  governor: 'CPU governor',
  hugePages: 'huge pages',
  memlock: 'locked memory',
} as const;
export type FactKey = keyof typeof factTitles;
export const factKeys = Object.keys(factTitles) as FactKey[];

/** What `machine` says in a lab of namespaces, whatever machine runs it. */
export const labMachine = 'Weft lab';

/** One host's. What it does not know is absent. */
export type HostFacts = Partial<Record<FactKey, string>>;

/**
 * Those of all hosts. A fact is one text where all hosts agree; else the hosts by value, as positions in `world.hosts`:
 * `{ "9000": "0-2,4-1023", "1500": "3" }`.
 */
export const worldFactsSchema = z.record(
  z.string(),
  z.union([z.string(), z.record(z.string(), z.string())]),
);
export type WorldFacts = z.infer<typeof worldFactsSchema>;

/** Stands for a fact that other hosts have. */
const unknown = 'unknown';

/** By host, in the order of `world.hosts`. */
export function packFacts(byHost: readonly HostFacts[]): WorldFacts {
  const known = factKeys.filter((key) => byHost.some((facts) => facts[key] !== undefined));
  return Object.fromEntries(
    known.map((key) => {
      const places = groupBy(byHost.keys(), (host) => byHost[host]![key] ?? unknown);
      const [[only = unknown] = []] = places;
      const lists = [...places].map(([value, hosts]) => [value, formatList(hosts)]);
      return [key, places.size === 1 ? only : Object.fromEntries(lists)];
    }),
  );
}

/** Which hosts have which value, the most frequent first; of one value where all agree. */
export function valuesOf(
  fact: WorldFacts[string],
  hosts: readonly string[],
): { readonly value: string; readonly hosts: readonly string[] }[] {
  if (typeof fact === 'string') return [{ value: fact, hosts }];
  return Object.entries(fact)
    .map(([value, list]) => ({ value, places: parseList(list) }))
    .sort((a, b) => b.places.length - a.places.length || a.places[0]! - b.places[0]!)
    .map(({ value, places }) => ({ value, hosts: places.flatMap((place) => hosts[place] ?? []) }));
}
