import type { RunOptions, ServingEngine } from '../../engine/engine.js';
import { percentilesOf } from '../../measure/quantile.js';
import type { NativeProxyJob, NativeProxyResult } from '../../native/tasks.js';
import type { Plan } from '../../plan/plan.js';
import type { Breakdown } from '../../results/schema.js';
import type { Producers } from '../producers.js';

/** Who starts the writes of a column, and when it waits for them. */
export type Mode = 'baseline' | 'blocking' | 'nbi';

export interface Asking {
  readonly producers: Producers;
  /** Blocks, or threads. */
  readonly count: number;
  readonly transfers: readonly (readonly number[])[];
  readonly crowded: boolean;
}

/** Threads of a producing block; all of them fill, one asks. */
const block = 256;
const shift = 10;

/**
 * One run of a plan in a mode, on every rank: rank 0 has the producers, the others run their part of the plan as ever.
 * `fill` lets producers write the pattern of that seed.
 */
export async function runMode(
  engine: ServingEngine,
  plan: Plan,
  mode: Mode,
  options: RunOptions,
  asking: Asking,
  extra: { fill?: number; trace?: boolean } = {},
): Promise<NativeProxyResult> {
  if (engine.rank !== 0 || mode === 'baseline') {
    const samples = await engine.run(plan, options);
    return { samples, trace: new Float64Array(), clockUncertainty: 0 };
  }
  const { gpu } = asking.producers;
  const job: NativeProxyJob = {
    ...(gpu !== undefined && { gpu }),
    producers: asking.count,
    block,
    shift,
    blocking: mode === 'blocking',
    fill: extra.fill !== undefined,
    seed: extra.fill ?? 0,
    trace: extra.trace ?? false,
    transfers: asking.transfers,
  };
  return engine.serve(plan, { ...options, crowded: asking.crowded }, job);
}

const stageNames = ['push → pop', 'pop → post', 'post → delivered', 'delivered → seen'] as const;
const timesPerRequest = 5;

/** Medians of each stage of the requests of a traced run; a stage that no request showed is absent. */
export function breakdownOf({ trace, clockUncertainty }: NativeProxyResult): Breakdown {
  const requests = trace.length / timesPerRequest;
  const stages = stageNames.flatMap((name, stage) => {
    const spans: number[] = [];
    for (let request = 0; request < requests; request++) {
      const [from, to] = trace.subarray(request * timesPerRequest + stage);
      // Where no quiet of its own showed a delivery, there is nothing to say.
      if (to! > 0) spans.push(to! - from!);
    }
    if (spans.length === 0) return [];
    const [p50, p95] = percentilesOf(spans, [50, 95]);
    return [{ name, p50: p50!, p95: p95! }];
  });
  return { stages, requests, clockUncertaintyNanoseconds: clockUncertainty };
}
