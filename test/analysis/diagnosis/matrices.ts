import type { Cell, Places } from '../../../src/analysis/diagnosis/cells.js';
import { seededRandom } from '../../../src/measure/seeded-random.js';

export type Noise = (next: () => number) => number;
const normal: Noise = (next) =>
  Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

/** Shapes of healthy noise, in logarithms. */
export const noises: Record<string, Noise> = {
  quiet: (next) => 0.003 * normal(next),
  usual: (next) => 0.02 * normal(next),
  loud: (next) => 0.15 * normal(next),
  even: (next) => 0.1 * next(),
  skewed: (next) => 0.03 * Math.log(1 - next()),
  'two levels': (next) => (next() < 0.3 ? -0.08 : 0) + 0.005 * normal(next),
};

export function worldOf(hosts: number, rails: number, ranksPerHost = 1): Places {
  return {
    hosts: Array.from(
      { length: hosts * ranksPerHost },
      (_, rank) => `h${Math.floor(rank / ranksPerHost)}`,
    ),
    nics: Array.from({ length: rails }, (_, rail) => `nic${rail}`),
  };
}

export interface Maker {
  readonly places: Places;
  readonly perRail: boolean;
  readonly noise: Noise;
  readonly seed: number;
  /** What a fault does to a cell: a factor. */
  readonly fault?: (cell: Omit<Cell, 'value'>) => number;
}

export function makeCells({ places, perRail, noise, seed, fault = () => 1 }: Maker): Cell[] {
  const next = seededRandom(seed);
  const ranks = [...places.hosts.keys()];
  const rails = perRail ? [...places.nics.keys()] : [undefined];
  return ranks.flatMap((from) =>
    ranks
      .filter((to) => to !== from)
      .flatMap((to) =>
        rails.map((rail) => {
          const cell = { from, to, rail };
          return { ...cell, value: Math.log(0.1) + noise(next) + Math.log(fault(cell)) };
        }),
      ),
  );
}
