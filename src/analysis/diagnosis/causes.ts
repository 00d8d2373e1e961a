import { groupBy } from '../../measure/group.js';
import type { Direction, Who } from '../../results/finding.js';
import type { Cell, Places } from './cells.js';
import { keyOfPart, type NetworkKind, partsOf } from './network.js';

/** Something that would make all of its cells worse. */
export interface Cause {
  readonly kind: 'pair' | 'nic' | 'host' | 'rank' | NetworkKind | 'rail';
  readonly who: Who;
  /** The ranks that are part of it; of a pair in the order from, to. */
  readonly ranks: readonly number[];
  /** Indices. */
  readonly cells: readonly number[];
}

type Subject = Omit<Cause, 'cells'>;
/** The ranks of each host and of each leaf. */
interface Mates {
  readonly atHost: ReadonlyMap<string, number[]>;
  readonly atLeaf: ReadonlyMap<string, number[]>;
}

/**
 * Every cause that could be meant by these cells. Causes that cover the same cells cannot be told apart: of those the
 * one that blames the least stays, which is the pair (in a world of two every fault is one).
 */
export function causesOf(cells: readonly Cell[], places: Places): Cause[] {
  const found = new Map<string, { subject: Subject; cells: number[] }>();
  const mates = matesOf(places);
  cells.forEach((cell, index) => {
    for (const [key, subject] of subjectsOf(cell, places, mates)) {
      const entry = found.get(key) ?? { subject, cells: [] };
      entry.cells.push(index);
      found.set(key, entry);
    }
  });
  const distinct = new Map<string, Cause>();
  const preferred = [...found.values()].sort((a, b) => order(a.subject) - order(b.subject));
  for (const { subject, cells: own } of preferred) {
    const key = own.join(' ');
    if (!distinct.has(key)) distinct.set(key, { ...subject, cells: own });
  }
  return [...distinct.values()];
}

/** Between two leaves all uplinks and their spine are one. */
const kinds = ['pair', 'nic', 'host', 'rank', 'spine', 'uplink', 'leaf', 'core', 'rail'] as const;
const order = ({ kind }: Subject): number => kinds.indexOf(kind);

const matesOf = ({ hosts, leaves = [] }: Places): Mates => ({
  atHost: groupBy(hosts.keys(), (rank) => hosts[rank]!),
  atLeaf: groupBy(leaves.keys(), (rank) => leaves[rank]!),
});

function subjectsOf(cell: Cell, places: Places, mates: Mates): [string, Subject][] {
  const { from, to } = cell;
  const { hosts } = places;
  const inside = hosts[from] === hosts[to];
  const ends = [
    ...endsOf(from, 'out', cell, places, mates),
    ...endsOf(to, 'in', cell, places, mates),
  ];
  const parts = partsOf(cell, places).map((part): [string, Subject] => [
    keyOfPart(part),
    { ...part, ranks: mates.atLeaf.get(part.who.leaf ?? '') ?? [] },
  ]);
  return [...ends, ...pairsOf(cell, places, inside), ...parts, ...railOf(cell, places, inside)];
}

/** What one end of a cell is: a rank, and between hosts a host with its NIC. */
function endsOf(
  rank: number,
  way: Direction,
  { from, to, rail }: Cell,
  { hosts, nics }: Places,
  { atHost }: Mates,
): [string, Subject][] {
  const host = hosts[rank]!;
  const inside = hosts[from] === hosts[to];
  const mates = atHost.get(host)!;
  const both: Direction[] = [way, 'both'];
  const subjects: [string, Subject][] = [];
  const add = (kind: Subject['kind'], who: Omit<Who, 'direction'>, ranks: readonly number[]) => {
    for (const direction of both) {
      const key = [kind, who.rank ?? who.host, who.rail ?? '', direction].join('|');
      subjects.push([key, { kind, who: { ...who, direction }, ranks }]);
    }
  };
  if (inside || mates.length > 1) add('rank', { rank, host }, [rank]);
  if (inside) return subjects;
  add('host', { host }, mates);
  if (rail !== undefined && nics.length > 1) add('nic', { host, rail, nic: nics[rail]! }, mates);
  return subjects;
}

function pairsOf(cell: Cell, { hosts, nics }: Places, inside: boolean): [string, Subject][] {
  const { from, to, rail } = cell;
  const name = (rank: number) => (inside ? `rank ${rank}` : hosts[rank]!);
  const [first, second] = from < to ? [from, to] : [to, from];
  const subjects: [string, Subject][] = [];
  const add = (ends: string, ranks: [number, number], direction: Direction, onRail?: number) => {
    const where = onRail === undefined ? {} : { rail: onRail, nic: nics[onRail]! };
    const who = { from: name(ranks[0]), to: name(ranks[1]), ...where, direction };
    subjects.push([`pair|${ends}|${onRail ?? ''}`, { kind: 'pair', who, ranks }]);
  };
  for (const onRail of [undefined, ...(rail !== undefined && nics.length > 1 ? [rail] : [])]) {
    add(`${name(from)}>${name(to)}`, [from, to], 'out', onRail);
    add([name(first), name(second)].sort().join('='), [first, second], 'both', onRail);
  }
  return subjects;
}

function railOf({ rail }: Cell, { nics }: Places, inside: boolean): [string, Subject][] {
  if (rail === undefined || inside || nics.length < 2) return [];
  const who: Who = { rail, nic: nics[rail]!, direction: 'both' };
  return [[`rail|${rail}`, { kind: 'rail', who, ranks: [] }]];
}
