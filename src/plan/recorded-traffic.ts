import type { TracedTransfer } from './patterns/trace.js';
import type { Plan, PostStep, Step } from './plan.js';

/** What must be over before a step is, as far as another rank's file can say it. */
interface Before {
  /** Names of transfers. */
  readonly transfers: ReadonlySet<string>;
  readonly notBefore: number;
}

interface Recorded extends TracedTransfer {
  readonly name: string;
  readonly needs: ReadonlySet<string>;
}

/**
 * The transfers of one iteration of all ranks, from their plans: each with the time and the transfers that it waits for,
 * which all come before it in the list. A read becomes a transfer of the rank it reads from; that rank cannot know what
 * the reader waited for, so of that only transfers of its own remain.
 */
export function recordedTraffic(plans: readonly Plan[]): TracedTransfer[] {
  const found = inOrder(plans.flatMap(transfersOf));
  const index = new Map(found.map(({ name }, i) => [name, i]));
  return found.map(({ from, to, bytes, notBefore, needs }) => {
    const after = [...needs]
      .map((name) => index.get(name)!)
      .filter((i) => found[i]!.from === from || found[i]!.to === from)
      .sort((a, b) => a - b);
    return {
      ...{ from, to, bytes },
      ...(notBefore !== undefined && { notBefore }),
      ...(after.length > 0 && { after }),
    };
  });
}

/** Names a transfer at both ends: by its slot, or by its number among the messages on a channel. */
class Names {
  readonly #messages = new Map<string, number>();

  of(rank: number, step: Step, index: number): string | undefined {
    if (step.kind === 'wait') return `${step.source}>${rank} slot ${step.slot}`;
    if (step.kind !== 'post') return undefined;
    const { op, peer, channel } = step;
    if (op === 'write') return `${rank}>${peer} slot ${step.slot}`;
    if (op === 'read') return `${peer}>${rank} read ${index}`;
    const way = op === 'send' ? `${rank}>${peer} ch ${channel}` : `${peer}>${rank} ch ${channel}`;
    const number = this.#messages.get(way) ?? 0;
    this.#messages.set(way, number + 1);
    return `${way} message ${number}`;
  }
}

function transfersOf({ rank, steps }: Plan): Recorded[] {
  const names = new Names();
  const ends: Before[] = [];
  const found: Recorded[] = [];
  for (const [index, step] of steps.entries()) {
    const before = step.after.map((one) => ends[one]!);
    const needs = new Set(before.flatMap(({ transfers }) => [...transfers]));
    const own = step.kind === 'join' ? (step.notBefore ?? 0) : 0;
    const notBefore = before.reduce((latest, one) => Math.max(latest, one.notBefore), own);
    const name = names.of(rank, step, index);
    if (step.kind === 'post' && step.op !== 'recv') {
      found.push({
        ...endsOf(rank, step),
        name: name!,
        needs,
        ...(notBefore > 0 && { notBefore }),
      });
    }
    // Whatever comes after a transfer comes after all that the transfer itself waited for.
    const arrives = step.kind === 'wait' || (step.kind === 'post' && step.op === 'recv');
    const transfers = name === undefined ? needs : new Set(arrives ? [...needs, name] : [name]);
    ends.push({ transfers, notBefore: name === undefined || arrives ? notBefore : 0 });
  }
  return found;
}

const endsOf = (rank: number, { op, peer, local }: PostStep) =>
  op === 'read'
    ? { from: peer, to: rank, bytes: local.bytes }
    : { from: rank, to: peer, bytes: local.bytes };

/** Each after what it needs; otherwise as they came. */
function inOrder(all: readonly Recorded[]): Recorded[] {
  const byName = new Map(all.map((one) => [one.name, one]));
  const done = new Set<string>();
  const sorted: Recorded[] = [];
  for (const first of all) {
    const stack = [first];
    while (stack.length > 0) {
      const one = stack.at(-1)!;
      const missing = [...one.needs].filter((name) => !done.has(name));
      if (missing.length === 0 || done.has(one.name)) {
        stack.pop();
        if (!done.has(one.name)) sorted.push(one);
        done.add(one.name);
      } else stack.push(...missing.map((name) => byName.get(name)!));
    }
  }
  return sorted;
}

/** JSON lines that `parseTrafficFile` reads back. Only transfers that others wait for have an id: their number. */
export function formatTrace(transfers: readonly TracedTransfer[]): string {
  const named = new Set(transfers.flatMap(({ after = [] }) => [...after]));
  const lines = transfers.map(({ from, to, bytes, notBefore, after = [] }, id) =>
    JSON.stringify({
      ...(notBefore !== undefined && { at: notBefore / 1000 }),
      ...{ from, to, bytes },
      ...(named.has(id) && { id }),
      ...(after.length > 0 && { after: after.length === 1 ? after[0] : after }),
    }),
  );
  return `${lines.join('\n')}\n`;
}

/** A CSV list; without times and dependencies, for which it has no room. */
export const formatTransferList = (transfers: readonly TracedTransfer[]): string =>
  ['from,to,bytes', ...transfers.map(({ from, to, bytes }) => `${from},${to},${bytes}`), ''].join(
    '\n',
  );
