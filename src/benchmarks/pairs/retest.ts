import type { PairMatrix } from '../../analysis/diagnosis/cells.js';
import { conclude, type RetestResult } from '../../analysis/diagnosis/conclude.js';
import type { Suspect } from '../../analysis/diagnosis/suspects.js';
import { summarize } from '../../measure/statistics.js';
import type { RankPair } from '../../plan/rounds.js';
import type { Retest } from '../../results/finding.js';
import type { World } from '../../world/world.js';
import type { PairJob, PairMeter, PairSamples } from './pair-meter.js';
import {
  bestOf,
  mostRetests,
  needsSecondLook,
  type RetestPairs,
  retestPairs,
} from './retest-plan.js';

interface Tools {
  readonly world: World;
  readonly meter: PairMeter;
  readonly rails: number;
}

/**
 * Measures each suspect with a control while everyone else is idle, and those that are not plainly bad alone a second
 * time. Rank 0 knows the suspects, and gets the results.
 */
export async function retestSuspects(
  tools: Tools,
  suspects: readonly Suspect[],
  matrix: PairMatrix | undefined,
): Promise<RetestResult[]> {
  const chosen = suspects.slice(0, mostRetests);
  const pairs = matrix ? chosen.map((suspect) => retestPairs(suspect, suspects, matrix)) : [];
  const first = await retestAll(tools, chosen, pairs);
  const doubtful = first.map((result) => needsSecondLook(conclude(result, matrix!)));
  const again = await retestAll(
    tools,
    chosen.filter((_, index) => doubtful[index]),
    pairs.filter((_, index) => doubtful[index]),
  );
  return first.map((result, index) => (doubtful[index] ? bestOf(result, again.shift()!) : result));
}

async function retestAll(
  { world, meter, rails }: Tools,
  suspects: readonly Suspect[],
  pairs: readonly RetestPairs[],
): Promise<RetestResult[]> {
  const plans = await world.broadcast<readonly RetestPairs[]>('retests', pairs);
  const results: RetestResult[] = [];
  for (const [index, plan] of plans.entries()) {
    meter.pace.take();
    const retests = await retestOne(meter, plan, rails);
    const pace = await world.gather('pace', meter.pace.take());
    if (retests && pace) results.push({ suspect: suspects[index]!, retests, pace });
  }
  return results;
}

async function retestOne(
  meter: PairMeter,
  { subject, control }: RetestPairs,
  rails: number,
): Promise<Retest[] | undefined> {
  const found: Retest[] = [];
  let rank0 = false;
  for (let rail = 0; rail < rails; rail++) {
    for (const turned of [false, true]) {
      for (const some of together(subject, control)) {
        const pairs = some.map(([a, b]): RankPair => (turned ? [b, a] : [a, b]));
        const job = (metric: PairJob['metric']) => meter.measure({ metric, pairs, rail });
        const bandwidth = await job('bandwidth');
        const latency = await job('latency');
        if (!bandwidth || !latency) continue;
        rank0 = true;
        bandwidth.forEach((one, i) => {
          const isControl = ![one.from, one.to].every((rank) => subject.includes(rank));
          found.push(retestOf(one, latency[i]!, rail, isControl));
        });
      }
    }
  }
  return rank0 ? found : undefined;
}

/** At once where they share no rank, else one after the other. */
function together(subject: RankPair, control: RankPair | undefined): RankPair[][] {
  if (control === undefined) return [[subject]];
  const apart = !control.some((rank) => subject.includes(rank));
  return apart ? [[subject, control]] : [[subject], [control]];
}

function retestOf(
  bandwidth: PairSamples,
  latency: PairSamples,
  rail: number,
  control: boolean,
): Retest {
  const { from, to, bytes } = bandwidth;
  const { p50, mean } = summarize(latency.samples, latency.batch);
  const counted = bandwidth.resent !== undefined && latency.resent !== undefined;
  return {
    from,
    to,
    rail,
    gbps: (bytes * 8) / Math.max(1, summarize(bandwidth.samples, bandwidth.batch).p50),
    latencyNanoseconds: p50 / 2,
    latencyMeanNanoseconds: mean / 2,
    resent: counted ? bandwidth.resent! + latency.resent! : null,
    ...(bandwidth.path.asPlanned === false && { path: bandwidth.path }),
    control,
  };
}
