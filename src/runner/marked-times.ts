import type { RunOptions } from '../engine/engine.js';
import { marksOf } from '../engine/marks.js';
import { Histogram } from '../measure/histogram.js';
import type { World } from '../world/world.js';
import type { TurnSamples } from './row.js';
import type { Ready } from './runner.js';

/** What rank 0 holds of one exchange, in times of all ranks. */
const mostAtOnce = 4 << 20;

/** The times of what turns mark, each from its own start. */
export class MarkedTimes {
  readonly #ready: Pick<Ready, 'turns' | 'marks'>;
  readonly #times: Float64Array[];

  constructor(ready: Pick<Ready, 'turns' | 'marks'>) {
    this.#ready = ready;
    this.#times = ready.turns.map(() => new Float64Array());
  }

  /** With which a turn is run. */
  options(turn: number): Pick<RunOptions, 'marks'> {
    const marks = this.#ready.marks[turn] ?? [];
    if (marks.length === 0) return {};
    const heard = (times: Float64Array) => {
      this.#times[turn] = times.map((time, i) => time - marks[i % marks.length]!.since);
    };
    const steps = marks.map((mark) => mark.steps);
    return { marks: marksOf(steps, heard) };
  }

  /** What every turn gave, on rank 0, which knows how long iterations took: `all`, by rank and turn. */
  async gather(
    world: Pick<World, 'size' | 'gather' | 'allgather'>,
    all: readonly Float64Array[][] | undefined,
    batch: number,
  ): Promise<TurnSamples[] | undefined> {
    const found: TurnSamples[] = [];
    for (const [turn, { within }] of this.#ready.turns.entries()) {
      const own = this.#times[turn]!;
      const marks = this.#ready.marks[turn];
      if (within) {
        const samples = piecesOf(own, marks?.length ?? 0).flatMap((times) => within.samples(times));
        found.push({ batch: 1, byRank: [Float64Array.from(samples)] });
      } else {
        const byRank = (all ?? []).map((rank) => rank[turn]!);
        found.push({ batch, byRank, marks: marks && (await gatherTimes(world, own)) });
      }
    }
    return all && found;
  }
}

const piecesOf = (times: Float64Array, length: number): Float64Array[] =>
  Array.from({ length: times.length / Math.max(1, length) }, (_, i) =>
    times.subarray(i * length, (i + 1) * length),
  );

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
