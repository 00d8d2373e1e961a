import type { RunOptions } from '../engine/engine.js';
import { Histogram } from '../measure/histogram.js';
import type { Mark } from '../plan/plan.js';
import type { World } from '../world/world.js';

/** What rank 0 holds of one exchange, in times of all ranks. */
const mostAtOnce = 4 << 20;

/** The times of the steps that turns mark, each from its own start. */
export class MarkedTimes {
  readonly #marks: readonly (readonly Mark[] | undefined)[];
  readonly #times: Float64Array[];

  /** This rank's marks by turn; undefined where the turn has none on any rank. */
  constructor(marks: readonly (readonly Mark[] | undefined)[]) {
    this.#marks = marks;
    this.#times = marks.map(() => new Float64Array());
  }

  /** With which a turn is run. */
  options(turn: number): Pick<RunOptions, 'marks'> {
    const marks = this.#marks[turn] ?? [];
    if (marks.length === 0) return {};
    const heard = (times: Float64Array) => {
      this.#times[turn] = times.map((time, i) => time - marks[i % marks.length]!.since);
    };
    return { marks: { steps: marks.map(({ step }) => step), heard } };
  }

  /** Those of all ranks by turn, on rank 0. */
  async gather(world: Pick<World, 'size' | 'gather' | 'allgather'>) {
    const found: (Histogram | undefined)[] = [];
    for (const [turn, times] of this.#times.entries()) {
      found.push(this.#marks[turn] && (await gatherTimes(world, times)));
    }
    return found;
  }
}

/** On rank 0; undefined elsewhere. Ranks may have different numbers of times. */
export async function gatherTimes(
  world: Pick<World, 'size' | 'gather' | 'allgather'>,
  own: Float64Array,
  most: number = mostAtOnce,
): Promise<Histogram | undefined> {
  const counts = await world.allgather('marks', own.length);
  const longest = counts.reduce((a, b) => Math.max(a, b));
  const piece = Math.max(1, Math.floor(most / world.size));
  let histogram: Histogram | undefined;
  for (let from = 0; from < longest; from += piece) {
    const all = await world.gather('marks', own.slice(from, from + piece));
    if (all === undefined) continue;
    histogram ??= new Histogram();
    for (const values of all) for (const value of values) histogram.add(value);
  }
  return histogram;
}
