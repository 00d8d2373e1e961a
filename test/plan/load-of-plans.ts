import type { Load } from '../../src/plan/bound.js';
import type { Plan } from '../../src/plan/plan.js';

/** What `loadOfTraffic` says, from the plans of all ranks. Copies between host and device load no link. */
export function loadOfPlans(plans: readonly Plan[]): Load {
  const channels = Math.max(...plans.map((plan) => plan.channels));
  const sequential = plans.some(isSequential);
  const cells = plans.length * channels;
  const [out, into] = [new Float64Array(cells), new Float64Array(cells)];
  for (const { rank, steps } of plans) {
    for (const step of steps) {
      if (step.kind !== 'post' || step.op === 'recv') continue;
      out[rank * channels + step.channel]! += step.local.bytes;
      into[step.peer * channels + step.channel]! += step.local.bytes;
    }
  }
  return { places: plans.length, channels, sequential, out, in: into };
}

/** Where bytes are sent only after others came or went; the copies of a staged plan are no such thing. */
function isSequential({ steps }: Plan): boolean {
  const waits: boolean[] = [];
  for (const { after } of steps) {
    waits.push(after.some((index) => steps[index]!.kind !== 'copy' || waits[index]!));
  }
  return steps.some((s, index) => s.kind === 'post' && s.local.bytes > 0 && waits[index]!);
}
