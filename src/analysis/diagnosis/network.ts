import type { Who } from '../../results/finding.js';
import type { Cell, Places } from './cells.js';

/** Parts of the network between hosts: a leaf switch, its links to the spine, a spine, what connects spines. */
const networkKinds = ['leaf', 'uplink', 'spine', 'core'] as const;
export type NetworkKind = (typeof networkKinds)[number];

export interface NetworkPart {
  readonly kind: NetworkKind;
  readonly who: Who;
}

export const isNetworkKind = (kind: string): kind is NetworkKind =>
  networkKinds.some((one) => one === kind);

type Ends = Pick<Cell, 'from' | 'to'>;

/** How far up a pair has to go. Pairs of different distance are no measure for each other. */
export type Distance = 'host' | 'leaf' | 'spine' | 'core';

export function distanceOf({ hosts, leaves, spines }: Places, { from, to }: Ends): Distance {
  if (hosts[from] === hosts[to]) return 'host';
  if (leaves?.[from] === leaves?.[to]) return 'leaf';
  return spines?.[from] === spines?.[to] ? 'spine' : 'core';
}

export const keyOfPart = ({ kind, who }: NetworkPart): string =>
  [kind, who.leaf ?? who.spine ?? '', who.direction].join('|');

/** What a directed pair between hosts passes; nothing where the network is not known. */
export function partsOf({ from, to }: Ends, places: Places): NetworkPart[] {
  const { leaves, spines } = places;
  const distance = distanceOf(places, { from, to });
  if (!leaves || !spines || distance === 'host') return [];
  const [near, far] = [leaves[from]!, leaves[to]!];
  const both = { direction: 'both' } as const;
  const leaf = [...new Set([near, far])].map(
    (name): NetworkPart => ({ kind: 'leaf', who: { leaf: name, ...both } }),
  );
  if (distance === 'leaf') return leaf;
  const uplinks = (['out', 'both'] as const).flatMap((way): NetworkPart[] => [
    { kind: 'uplink', who: { leaf: near, direction: way } },
    { kind: 'uplink', who: { leaf: far, direction: way === 'out' ? 'in' : way } },
  ]);
  const spine = [...new Set([spines[from]!, spines[to]!])].map(
    (name): NetworkPart => ({ kind: 'spine', who: { spine: name, ...both } }),
  );
  const core: NetworkPart[] = distance === 'core' ? [{ kind: 'core', who: both }] : [];
  return [...leaf, ...uplinks, ...spine, ...core];
}

/** Whether a pair passes a part, in either direction. */
export const passes = (part: NetworkPart, { from, to }: Ends, places: Places): boolean =>
  [
    { from, to },
    { from: to, to: from },
  ].some((ends) => partsOf(ends, places).some((one) => keyOfPart(one) === keyOfPart(part)));
