import {
  isWait,
  isWrite,
  type Plan,
  type Step,
  type TransferPart,
  type WriteStep,
} from '../../src/plan/plan.js';

/** The same bytes to the same places, each write in up to `most` parts that go in any order. */
export function inParts(plans: readonly Plan[], random: () => number, most: number): Plan[] {
  const partsOf = new Map<string, readonly TransferPart[]>();
  const cut = (plan: Plan): Plan => ({
    ...plan,
    steps: plan.steps.map((step): Step => {
      if (!isWrite(step)) return step;
      const parts = shuffled(cutAtRandom(step, random, most), random);
      partsOf.set(`${plan.rank}>${step.peer} ${step.slot}`, parts);
      const local = { ...step.local, offset: parts[0]!.local };
      return { ...step, local, remote: { offset: parts[0]!.remote }, parts };
    }),
  });
  const awaiting = (plan: Plan): Plan => ({
    ...plan,
    steps: plan.steps.map((step): Step => {
      if (!isWait(step)) return step;
      const parts = partsOf
        .get(`${step.source}>${plan.rank} ${step.slot}`)!
        .map(({ remote: offset, bytes }) => ({ offset, bytes }));
      return { ...step, offset: parts[0]!.offset, parts };
    }),
  });
  return plans.map(cut).map(awaiting);
}

function cutAtRandom({ local, remote }: WriteStep, random: () => number, most: number) {
  const count = Math.floor(random() * most);
  const cuts = Array.from({ length: count }, () => Math.floor(random() * (local.bytes + 1)));
  const ends = [...cuts.sort((a, b) => a - b), local.bytes];
  return ends.map((end, i) => {
    const start = ends[i - 1] ?? 0;
    return { local: local.offset + start, remote: remote.offset + start, bytes: end - start };
  });
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** The same bytes to the same places, but whoever gets them reads them; a join ends each plan. */
export function byReads(plans: readonly Plan[]): Plan[] {
  return plans.map((plan) => {
    const reads = plans.flatMap(({ rank, steps }) =>
      steps
        .filter(isWrite)
        .filter(({ peer }) => peer === plan.rank)
        .map(({ slot: _, local, remote, parts, ...write }): Step => {
          const mine = { ...local, buffer: 'target' as const, offset: remote.offset };
          const theirs = parts?.map((part) => ({
            ...part,
            local: part.remote,
            remote: part.local,
          }));
          const from = { offset: local.offset };
          const read = { ...write, op: 'read' as const, peer: rank, local: mine, remote: from };
          return { ...read, ...(theirs && { parts: theirs }), after: [] };
        }),
    );
    return { ...plan, steps: [...reads, { kind: 'join', after: [...reads.keys()] }] };
  });
}
