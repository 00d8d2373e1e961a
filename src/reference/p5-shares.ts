import { gbpsOf } from '../measure/units.js';
import { multi, roundRobin, strategies } from '../plan/strategies.js';
import type { Figure } from './csv.js';
import { columnOf, libefaxxFigures as figures } from './libefaxx.js';
import { p5Fabric } from './p5-fabric.js';
import { p5ExchangeNodes } from './p5-rows.js';

/** What share of its line rate a configuration reaches, by size. */
export interface Shares {
  /** Round-robin is held against its bound: three targets cannot use four NICs. */
  readonly metric: 'busbwPercent' | 'linePercent' | 'ofBoundPercent';
  /** [bytes, per cent], the smallest size first. */
  readonly points: readonly (readonly [bytes: number, percent: number])[];
}

/** The published shares of a benchmark's column on p5.48xlarge; undefined where none are published. */
export function p5Shares(benchmark: string, column: string): Shares | undefined {
  const own = figures.filter((one) => one.benchmark === benchmark && columnOf(one) === column);
  if (own.length === 0) return undefined;
  const points = own
    .sort((a, b) => a.bytes - b.bytes)
    .map((figure) => [figure.bytes, shareOf(figure)] as const);
  return { metric: metricOf(own[0]!), points: points.filter(isNoDip) };
}

/** What one NIC of p5 has, by its nominal rate. */
export const p5NicGbps = p5Fabric.lineRateGbps;

/** Whether all-to-all figures are published for such a world: how much latency weighs depends on the number of peers. */
export const isPublishedExchange = (nodes: number, ranks: number, nicsPerRank: number): boolean =>
  nodes === p5ExchangeNodes && ranks === p5ExchangeNodes && nicsPerRank === p5Fabric.nicsPerRank;

const isExchange = ({ benchmark }: Figure): boolean => benchmark === 'all2all';
const strategyOf = (figure: Figure) =>
  strategies.find(({ title }) => columnOf(figure).startsWith(title));

function metricOf(figure: Figure): Shares['metric'] {
  if (strategyOf(figure) === roundRobin) return 'ofBoundPercent';
  return isExchange(figure) ? 'linePercent' : 'busbwPercent';
}

function shareOf(figure: Figure): number {
  const { nicsPerRank, lineRateGbps } = p5Fabric;
  const strategy = strategyOf(figure);
  const peers = p5ExchangeNodes - 1;
  const blocks = !isExchange(figure)
    ? 1
    : strategy === roundRobin
      ? Math.ceil(peers / nicsPerRank)
      : peers;
  const nics = strategy === multi ? nicsPerRank : 1;
  const gbps = gbpsOf(figure.bytes, figure.nanoseconds);
  return (100 * blocks * gbps) / (nics * lineRateGbps);
}

/** A size that is slower than both its neighbours says more about that measurement than about the machine. */
function isNoDip(
  [, share]: readonly [number, number],
  i: number,
  all: readonly (readonly [number, number])[],
): boolean {
  const [before, after] = [all[i - 1], all[i + 1]];
  return before === undefined || after === undefined || share >= Math.min(before[1], after[1]);
}
