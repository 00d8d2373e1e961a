import { moeTraffic } from '../../plan/patterns/moe.js';
import { moeAroundCall } from '../../plan/patterns/moe-around-call.js';
import { moePlan } from '../../plan/patterns/moe-plan.js';
import { multi, roundRobin, single } from '../../plan/strategies.js';
import { defineBenchmark } from '../../runner/benchmark.js';
import { columns, device, pinned, variants } from '../../runner/columns.js';
import { alltoallvOf, meanSent, moeFigures } from './figures.js';
import { layoutOf, moeVariants, routingOf, rowBytes } from './layer.js';
import { checkOptions, moeOptions } from './options.js';

const strategies = [single, multi, roundRobin];

export const moe = defineBenchmark({
  id: 'moe',
  summary: 'Dispatch tokens to experts on other ranks and combine the results.',
  ranks: { min: 2, usual: 4 },
  columns: variants(moeVariants, columns(strategies, [pinned, device])),
  // With one NIC all strategies do the same, and every column checks gigabytes.
  defaults: {
    columns: moeVariants.flatMap((one) => [`${one}MultiPin`, `${one}MultiDMA`]),
  },
  sizes: { minBytes: 128 * 2 * 7168, maxBytes: 4096 * 2 * 7168, factor: 32 },
  without: ['minBytes', 'maxBytes', 'stepFactor', 'stepBytes'],
  options: moeOptions,
  check: checkOptions,
  clock: 'slowest',
  pattern: 'moe',
  sizesOf: ({ options }) => rowBytes(options),
  inputHash: ({ options }, world) =>
    rowBytes(options)
      .map((bytes) => routingOf({ world, bytes, options }).hash)
      .join(' '),
  operationBytes: (situation) => layoutOf(situation).meanRunBytes,
  turns: (situation) => {
    const layout = layoutOf(situation);
    const bytes = meanSent(situation);
    const { overlap } = situation.options;
    return [
      {
        traffic: moeTraffic(layout),
        plan: (own) => moePlan(layout, { ...own, overlap }),
        figureBytes: { figure: bytes, line: bytes },
      },
    ];
  },
  against: alltoallvOf,
  aroundCall: (situation) => moeAroundCall(layoutOf(situation)),
  figures: moeFigures,
});
