import { leastMultiple } from '../measure/divisors.js';
import type { Strategy } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import type { SimulatedWorld } from './wiring.js';

/**
 * How many ranks have to be simulated. Where traffic and links look the same after moving every rank on by some number
 * of ranks, so does the outcome: the plans of that many ranks stand for all.
 */
export function periodOf(traffic: Traffic, strategy: Strategy, sim: SimulatedWorld): number {
  const { ranksPerNode, switches, faults = [], fabric } = sim;
  const { world, shifted } = traffic;
  if (!shifted || faults.length > 0 || switches?.routing === 'ecmp') return world;
  const channels = fabric.nicsPerRank;
  const ofStrategy = strategy.rankPeriod(channels);
  const period = [ofStrategy, ranksPerNode * (switches?.hostsPerLeaf ?? 1)].reduce(leastMultiple);
  // Peers are numbered modulo the world: their channels repeat only where it holds whole turns of them.
  const wraps = ofStrategy === 1 || world % channels === 0;
  return world % period === 0 && wraps ? period : world;
}
