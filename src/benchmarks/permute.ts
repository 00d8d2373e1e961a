import { mean } from '../measure/summary.js';
import { gbpsOf } from '../measure/units.js';
import { randomPermutation } from '../plan/patterns/permutation.js';
import { transfersTraffic } from '../plan/patterns/transfers.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { writePlan } from '../plan/write-plan.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { option, wholeNumber } from '../settings/option.js';

export const permute = defineBenchmark({
  id: 'permute',
  summary: 'Write from every rank to one other, by random permutations; reports mean and worst.',
  ranks: { min: 2, usual: 4 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 16 * 2 ** 20, factor: 4 },
  clock: 'slowest',
  pattern: 'permutation',
  options: {
    permutations: option({
      flags: '--permutations <count>',
      help: 'permutations per row',
      kind: wholeNumber(1, 10_000),
      default: 8,
    }),
    seed: option({
      flags: '--seed <number>',
      help: 'seed of the first permutation',
      kind: wholeNumber(0, 2 ** 31),
      default: 1,
    }),
  },
  turns: ({ world, bytes, options: { permutations, seed } }) =>
    Array.from({ length: permutations }, (_, index) => {
      const transfers = randomPermutation(world, seed + index, bytes);
      const traffic = transfersTraffic(`permutation ${seed + index}`, world, transfers);
      return {
        traffic,
        plan: (situation) => writePlan(traffic, situation),
        figureBytes: { figure: bytes, line: bytes },
      };
    }),
  figures: ({ situation: { bytes, options }, samples, batch }) => {
    const times = samples.map((turn) => mean(turn) / batch);
    const worst = Math.max(...times);
    return {
      worstGbps: gbpsOf(bytes, worst),
      worstSeed: options.seed + times.indexOf(worst),
    };
  },
});
