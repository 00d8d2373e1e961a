import { WeftError } from '../../errors.js';
import { scopes } from '../../plan/scan-rounds.js';
import { pairColumns } from '../../results/column-name.js';
import { defineBenchmark } from '../../runner/benchmark.js';
import { choice, onOff, option, text } from '../../settings/option.js';
import { explainScan } from './explain-scan.js';
import { PairScan } from './pair-scan.js';

export const pairOptions = {
  perRail: onOff('--per-rail', 'measure each channel separately'),
  scope: option({
    flags: '--scope <pairs>',
    help: 'n log n pairs: leaf, spine, all',
    kind: choice(scopes),
    defaultText: 'every pair',
  }),
  network: option({
    flags: '--network <file>',
    help: 'network description: YAML, topology.conf, EC2',
    kind: text,
  }),
};

export const pairs = defineBenchmark({
  id: 'pairs',
  summary: 'Measure every pair of ranks and name the slow host, NIC, rail or pair.',
  ranks: { min: 2 },
  columns: [{ name: pairColumns.bandwidth }, { name: pairColumns.latency }],
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 4 * 2 ** 20, factor: 2 },
  options: pairOptions,
  // One diagnosis of one size between the smallest and the largest, bandwidth and latency both.
  without: ['columns', 'stepFactor', 'stepBytes', 'warmup', 'repeats'],
  fabric: true,
  reportsGaps: true,
  check: ({ options: { scope, network } }) => {
    if (network !== undefined || scope === undefined || scope === 'all') return;
    throw new WeftError('BAD_USAGE', `\`scope\` ${scope} needs a network description`, {
      hint: 'Name the file with `network`, or use `scope` all.',
    });
  },
  explain: explainScan,
  run: (procedure) => new PairScan(procedure).run(),
});
