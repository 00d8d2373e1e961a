import { formatBytesRounded, plural, rangeText } from '../measure/units.js';
import type { Plan, Step } from './plan.js';

/** Every rank of a small world is looked at; of a larger one the first few and the last. */
const mostRanks = 8;
const firstRanks = 4;
/** More kinds of ranks, or of steps of one, are counted. */
const mostKinds = 3;
const mostLines = 6;

/** What comes after what on each rank; nothing where everything starts at once. `planOf`: the plan of a rank. */
export function orderLines(world: number, planOf: (rank: number) => Plan, more: string): string[] {
  const ranks = Array.from({ length: world }, (_, rank) => rank).filter(
    (rank) => world <= mostRanks || rank < firstRanks || rank === world - 1,
  );
  const alike = new Map<string, { groups: Group[][]; ranks: number[] }>();
  for (const rank of ranks) {
    const groups = groupsOf(planOf(rank));
    if (groups.length === 0) continue;
    const key = JSON.stringify(groups.map(textOf));
    const found = alike.get(key) ?? { groups: [], ranks: [] };
    alike.set(key, found);
    found.groups.push(groups);
    found.ranks.push(rank);
  }
  const kinds = [...alike.values()];
  if (!kinds.some(({ groups }) => groups[0]!.some(({ after }) => after.size > 0))) return [];
  const left = kinds.slice(mostKinds).flatMap((one) => one.ranks).length;
  return [
    ...kinds
      .slice(0, mostKinds)
      .flatMap(({ groups, ranks: of }) => [
        `  order on ${of.length === 1 ? 'rank' : 'ranks'} ${of.join(', ')}`,
        ...linesOf(groups, more),
      ]),
    ...(left > 0 ? [`  ${more} ${plural(left, 'rank')} in other orders`] : []),
  ];
}

type Kind = 'arrival' | 'write' | 'empty write' | 'read' | 'send' | 'sum' | 'copy step';

/** Steps of one kind that come after steps of the same kinds. */
interface Group {
  readonly kind: Kind;
  bytes: number;
  count: number;
  /** By kind: the fewest and the most that one of the steps comes after. */
  readonly after: Map<Kind, [number, number]>;
}

function kindOf(step: Step): Kind | undefined {
  switch (step.kind) {
    case 'join':
      return undefined;
    case 'wait':
      return 'arrival';
    case 'post':
      if (step.op === 'recv') return 'arrival';
      return step.op === 'write' && step.local.bytes === 0 ? 'empty write' : step.op;
    case 'copy':
      return 'copy step';
    case 'sum':
      return 'sum';
  }
}

const bytesOf = (step: Step): number => {
  if (step.kind === 'post') return step.local.bytes;
  return step.kind === 'sum' ? step.parts.reduce((sum, { bytes }) => sum + bytes, 0) : 0;
};

/** What a rank does by itself, in the order of its plan; arrivals are what others do. */
function groupsOf({ steps }: Plan): Group[] {
  const groups = new Map<string, Group>();
  const before = prerequisites(steps);
  for (const [index, step] of steps.entries()) {
    const kind = kindOf(step);
    if (kind === undefined || kind === 'arrival') continue;
    const counts = countsOf(steps, before(index));
    const key = `${kind} ${[...counts.keys()].sort()}`;
    const group = groups.get(key) ?? { kind, bytes: 0, count: 0, after: new Map() };
    groups.set(key, group);
    group.bytes += bytesOf(step);
    group.count++;
    for (const [of, count] of counts) {
      const [least, most] = group.after.get(of) ?? [count, count];
      group.after.set(of, [Math.min(least, count), Math.max(most, count)]);
    }
  }
  return [...groups.values()];
}

/** The steps that a step comes after, with those behind joins in the place of the joins. */
function prerequisites(steps: readonly Step[]): (index: number) => ReadonlySet<number> {
  const behind = new Map<number, ReadonlySet<number>>();
  const expand = (after: readonly number[]): ReadonlySet<number> => {
    const [only] = after;
    if (after.length === 1 && behind.has(only!)) return behind.get(only!)!;
    return new Set(after.flatMap((one) => [...(behind.get(one) ?? [one])]));
  };
  steps.forEach(({ kind, after }, index) => {
    if (kind === 'join') behind.set(index, expand(after));
  });
  return (index) => expand(steps[index]!.after);
}

function countsOf(steps: readonly Step[], indices: ReadonlySet<number>): Map<Kind, number> {
  const counts = new Map<Kind, number>();
  for (const index of indices) {
    const kind = kindOf(steps[index]!)!;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Without sizes, which differ between ranks that do the same. */
function textOf({ kind, count, after }: Group): { what: string; when: string } {
  const what = plural(count, kind);
  if (after.size === 0) return { what, when: 'at once' };
  const all = [...after].map(
    ([of, [least, most]]) => `${rangeText([least, most], 0)} ${of}${most === 1 ? '' : 's'}`,
  );
  return { what, when: `after ${all.join(' + ')}${count > 1 ? ' each' : ''}` };
}

/** Of ranks that do the same; each has its own sizes. */
function linesOf(ofRanks: readonly (readonly Group[])[], more: string): string[] {
  const [first = []] = ofRanks;
  const shown = first.slice(0, mostLines).map((group, index) => {
    const sizes = ofRanks.map((groups) => groups[index]!.bytes);
    const most = Math.max(...sizes);
    const upTo = sizes.every((one) => one === most) ? '' : 'up to ';
    const { what, when } = textOf(group);
    const size = most > 0 ? `, ${upTo}${formatBytesRounded(most)}` : '';
    return `    ${`${what}${size}`.padEnd(24)} ${when}`;
  });
  const left = first.length - shown.length;
  return left > 0 ? [...shown, `    ${more} ${plural(left, 'more kind')} of steps`] : shown;
}
