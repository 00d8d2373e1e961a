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
  { subject, control, alone }: RetestPairs,
  rails: number,
): Promise<Retest[] | undefined> {
  const found: Retest[] = [];
  const keys = new Set(subject.map(keyOf));
  const jobs = [...together(subject, control), ...(alone && subject.length > 1 ? [[alone]] : [])];
  let rank0 = false;
  for (let rail = 0; rail < rails; rail++) {
    for (const turned of [false, true]) {
      for (const some of jobs) {
        const pairs = some.map(([a, b]): RankPair => (turned ? [b, a] : [a, b]));
        const job = (metric: PairJob['metric']) => meter.measure({ metric, pairs, rail });
        const bandwidth = await job('bandwidth');
        const latency = await job('latency');
        if (!bandwidth || !latency) continue;
        rank0 = true;
        bandwidth.forEach((one, i) => {
          const isControl = !keys.has(keyOf([one.from, one.to]));
          const byItself = alone !== undefined && some.length === 1 && subject.length > 1;
          const retest = retestOf(one, latency[i]!, rail, isControl);
          found.push(byItself && !isControl ? { ...retest, alone: true } : retest);
        });
      }
    }
  }
  return rank0 ? found : undefined;
}

/** At once where they share no rank, else one after the other. */
function together(subject: readonly RankPair[], control: readonly RankPair[]): RankPair[][] {
  if (control.length === 0) return [[...subject]];
  const busy = new Set(subject.flat());
  const apart = !control.flat().some((rank) => busy.has(rank));
  return apart ? [[...subject, ...control]] : [[...subject], [...control]];
}

const keyOf = ([a, b]: RankPair): string => `${Math.min(a, b)} ${Math.max(a, b)}`;

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
