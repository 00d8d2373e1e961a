import type { Engine } from '../engine/engine.js';
import { slowestPerIteration } from '../measure/statistics.js';
import type { Plan } from '../plan/plan.js';
import type { Session } from '../session/session.js';
import type { Settings } from '../settings/table.js';
import { gatherSamples } from './gather-samples.js';
import { calibrate } from './timing.js';

/** A plan, and what carries it out. */
interface Runnable {
  readonly engine: Pick<Engine, 'run'>;
  readonly plan: Plan;
}

/** Something to time in turns with others. */
export interface Contender extends Runnable {
  readonly column: string;
  /** Runs as often beside it in every round; on each rank, its time is added. */
  readonly beside?: Runnable | undefined;
}

/** What the rounds gave of a contender: the slowest rank's nanoseconds of each batch. */
export interface RoundTimes {
  readonly batch: number;
  readonly samples: readonly number[];
  /** The same without what runs beside it; absent where nothing does. */
  readonly alone?: readonly number[];
}

/** Enough for a narrow interval; the time budget of a row decides how long each takes. */
export const rounds = 15;

/**
 * Times a batch of every contender in each round; each round begins with the next of them. So what disturbs the machine
 * disturbs all of them. Every rank calls it; rank 0 gets the times, in the order of the contenders.
 */
export async function takeTurns(
  { world, fabric }: Pick<Session, 'world' | 'fabric'>,
  contenders: readonly Contender[],
  settings: Settings,
): Promise<RoundTimes[] | undefined> {
  const run = async ({ engine, plan }: Runnable, iterations: number) => {
    const [nanoseconds] = await engine.run(plan, { iterations, batch: iterations });
    // What comes next may be another library: it must not share its core with our looking around.
    fabric.port.stop();
    return nanoseconds!;
  };
  const batches: number[] = [];
  for (const one of contenders) {
    const { iterations } = await calibrate(one.engine, world, one.plan, settings, 1);
    fabric.port.stop();
    batches.push(Math.max(1, Math.round(iterations / rounds)));
  }
  const own = contenders.map(() => new Float64Array(rounds));
  const beside = contenders.map(() => new Float64Array(rounds));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const index = (round + turn) % contenders.length;
      const contender = contenders[index]!;
      world.note(`${contender.column}: round ${round + 1} of ${rounds}`);
      if (contender.beside) beside[index]![round] = await run(contender.beside, batches[index]!);
      own[index]![round] = await run(contender, batches[index]!);
    }
  }
  fabric.port.start();
  const both = own.map((times, index) => times.map((time, round) => time + beside[index]![round]!));
  const all = await gatherSamples(world, [...both, ...own], rounds);
  if (!all) return undefined;
  const slowest = (index: number) =>
    slowestPerIteration(all.map((ofRank) => ofRank[index]!)).map(Math.round);
  return contenders.map((one, index) => ({
    batch: batches[index]!,
    samples: slowest(index),
    ...(one.beside && { alone: slowest(contenders.length + index) }),
  }));
}
