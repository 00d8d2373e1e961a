import { leastMultiple } from '../measure/divisors.js';
import type { Strategy } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import type { SimulatedWorld } from './wiring.js';

type World = Omit<SimulatedWorld, 'memory'>;

/** More transfers than this take too long and too much memory. */
export const mostTransfers = 600_000;

/**
 * How many ranks have to be simulated. Where traffic and links look the same after moving every rank on by some number
 * of ranks, so does the outcome: the plans of that many ranks stand for all. That is exact. Where it still is too much,
 * hosts below sprayed leaves count as alike if everyone sends the same to everyone else (`Wiring` says how), which
 * `hostsAreAlike` tells.
 */
export function periodOf(traffic: Traffic, strategy: Strategy, sim: World): number {
  const { nodes, ranksPerNode, switches, faults = [], fabric } = sim;
  const { world, shifted } = traffic;
  const hostsPerLeaf = switches?.hostsPerLeaf ?? 1;
  if (!shifted || faults.length > 0 || switches?.routing === 'ecmp') return world;
  const channels = fabric.nicsPerRank;
  const ofStrategy = strategy.rankPeriod(channels);
  // Peers are numbered modulo the world: their channels repeat only where it holds whole turns of them.
  const wraps = ofStrategy === 1 || world % channels === 0;
  const repeated = (period: number) => (world % period === 0 && wraps ? period : world);
  const exact = repeated(leastMultiple(ofStrategy, ranksPerNode * hostsPerLeaf));
  const transfers = exact * traffic.outgoing(0).length * strategy.maxPieces(channels);
  if (transfers <= mostTransfers || nodes % hostsPerLeaf !== 0 || !isUniform(traffic)) return exact;
  return repeated(leastMultiple(ofStrategy, ranksPerNode));
}

/** Whether rank 0, and so every rank, sends as much to each of the others. */
function isUniform({ world, outgoing }: Traffic): boolean {
  const blocks = outgoing(0);
  const targets = new Set(blocks.map(({ target }) => target));
  return (
    blocks.length === world - 1 &&
    targets.size === blocks.length &&
    blocks.every(({ bytes }) => bytes === blocks[0]!.bytes)
  );
}
