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
 * one that blames the least stays, which is the pair (in a world of two every fault is one). Where there are very many
 * cells, pairs are only made of those that are `bad`: no other can be chosen. `candidates` counts them all.
 */
export function causesOf(
  cells: readonly Cell[],
  places: Places,
  bad: (index: number) => boolean,
): { causes: Cause[]; candidates: number } {
  const found = new Map<string, { subject: Subject; cells: number[] }>();
  const mates = matesOf(places);
  const few = cells.length <= mostCellsInFull;
  const wanted = new Set(
    cells.flatMap((cell, i) => (few || !bad(i) ? [] : pairsOf(cell, places).map(([key]) => key))),
  );
  const others = new Set<string>();
  cells.forEach((cell, index) => {
    const add = ([key, make]: Named) => {
      const entry = found.get(key);
      if (entry === undefined) found.set(key, { subject: make(), cells: [index] });
      else entry.cells.push(index);
    };
    subjectsOf(cell, places, mates).forEach(add);
    for (const pair of pairsOf(cell, places)) {
      if (few || wanted.has(pair[0])) add(pair);
      else others.add(pair[0]);
    }
  });
  const distinct = new Map<string, Cause>();
  const preferred = [...found.values()].sort((a, b) => order(a.subject) - order(b.subject));
  for (const { subject, cells: own } of preferred) {
    const key = own.join(' ');
    if (!distinct.has(key)) distinct.set(key, { ...subject, cells: own });
  }
  return { causes: [...distinct.values()], candidates: distinct.size + others.size };
}

/** A key, and what has it. */
type Named = readonly [string, () => Subject];
/** Of about 140 ranks. */
const mostCellsInFull = 20_000;

/** Between two leaves all uplinks and their spine are one. */
const kinds = ['pair', 'nic', 'host', 'rank', 'spine', 'uplink', 'leaf', 'core', 'rail'] as const;
const order = ({ kind }: Subject): number => kinds.indexOf(kind);

const matesOf = ({ hosts, leaves = [] }: Places): Mates => ({
  atHost: groupBy(hosts.keys(), (rank) => hosts[rank]!),
  atLeaf: groupBy(leaves.keys(), (rank) => leaves[rank]!),
});

/** All but the pairs. */
function subjectsOf(cell: Cell, places: Places, mates: Mates): Named[] {
  const { from, to } = cell;
  const parts = partsOf(cell, places).map(
    (part): Named => [
      keyOfPart(part),
      () => ({ ...part, ranks: mates.atLeaf.get(part.who.leaf ?? '') ?? [] }),
    ],
  );
  return [
    ...endsOf(from, 'out', cell, places, mates),
    ...endsOf(to, 'in', cell, places, mates),
    ...parts,
    ...railOf(cell, places),
  ];
}

/** What one end of a cell is: a rank, and between hosts a host with its NIC. */
function endsOf(
  rank: number,
  way: Direction,
  { from, to, rail }: Cell,
  { hosts, nics }: Places,
  { atHost }: Mates,
): Named[] {
  const host = hosts[rank]!;
  const inside = hosts[from] === hosts[to];
  const mates = atHost.get(host)!;
  const both: Direction[] = [way, 'both'];
  const subjects: Named[] = [];
  const add = (kind: Subject['kind'], who: Omit<Who, 'direction'>, ranks: readonly number[]) => {
    for (const direction of both) {
      const key = `${kind}|${who.rank ?? who.host}|${who.rail ?? ''}|${direction}`;
      subjects.push([key, () => ({ kind, who: { ...who, direction }, ranks })]);
    }
  };
  if (inside || mates.length > 1) add('rank', { rank, host }, [rank]);
  if (inside) return subjects;
  add('host', { host }, mates);
  if (rail !== undefined && nics.length > 1) add('nic', { host, rail, nic: nics[rail]! }, mates);
  return subjects;
}

function pairsOf({ from, to, rail }: Cell, { hosts, nics }: Places): Named[] {
  const inside = hosts[from] === hosts[to];
  const name = (rank: number) => (inside ? `rank ${rank}` : hosts[rank]!);
  const [first, second] = from < to ? [from, to] : [to, from];
  const subjects: Named[] = [];
  const add = (ends: string, ranks: [number, number], direction: Direction, onRail?: number) => {
    const where = onRail === undefined ? {} : { rail: onRail, nic: nics[onRail]! };
    const who = { from: name(ranks[0]), to: name(ranks[1]), direction };
    const make = () => ({ kind: 'pair' as const, who: { ...who, ...where }, ranks });
    subjects.push([`pair|${ends}|${onRail ?? ''}`, make]);
  };
  for (const onRail of [undefined, ...(rail !== undefined && nics.length > 1 ? [rail] : [])]) {
    add(`${name(from)}>${name(to)}`, [from, to], 'out', onRail);
    add([name(first), name(second)].sort().join('='), [first, second], 'both', onRail);
  }
  return subjects;
}

function railOf({ from, to, rail }: Cell, { hosts, nics }: Places): Named[] {
  if (rail === undefined || hosts[from] === hosts[to] || nics.length < 2) return [];
  const who: Who = { rail, nic: nics[rail]!, direction: 'both' };
  return [[`rail|${rail}`, () => ({ kind: 'rail', who, ranks: [] })]];
}
