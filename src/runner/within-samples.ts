import type { RunOptions } from '../engine/engine.js';
import type { TurnSamples } from './row.js';
import type { Ready } from './runner.js';

/** The samples of turns, of which some lie within their iterations, on rank 0. */
export class WithinSamples {
  readonly #ready: Pick<Ready, 'turns' | 'plans'>;
  readonly #samples: (Float64Array | undefined)[] = [];

  constructor(ready: Pick<Ready, 'turns' | 'plans'>) {
    this.#ready = ready;
  }

  /** With which a turn is run. */
  options(turn: number): Pick<RunOptions, 'marks'> {
    const plan = this.#ready.plans[turn]!;
    const { within } = this.#ready.turns[turn]!;
    if (!within || plan.rank !== 0) return {};
    const steps = within.steps(plan);
    const heard = (times: Float64Array) => {
      const iterations = Array.from({ length: times.length / steps.length }, (_, i) =>
        within.samples(times.subarray(i * steps.length, (i + 1) * steps.length)),
      );
      this.#samples[turn] = Float64Array.from(iterations.flat());
    };
    return { marks: { steps, heard } };
  }

  /** Its samples, from those of all ranks by rank and turn: the iterations' own times, unless there are some within. */
  samplesOf(turn: number, all: readonly Float64Array[][], batch: number): TurnSamples {
    const own = this.#samples[turn];
    return own ? { batch: 1, byRank: [own] } : { batch, byRank: all.map((rank) => rank[turn]!) };
  }
}
