import { allowedCores } from '../native/process.js';

/** Equal shares of the cores, one after the other; undefined when there are fewer cores than ranks. */
export function shareCores(cores: readonly number[], ranks: number): number[][] | undefined {
  const share = Math.floor(cores.length / ranks);
  if (share === 0) return undefined;
  return Array.from({ length: ranks }, (_, rank) => cores.slice(rank * share, (rank + 1) * share));
}

/** Where `auto` puts the ranks on this machine, within the cores this process may use. */
export function pinPlan(pin: 'auto' | 'none', ranks: number): number[][] | undefined {
  return pin === 'none' ? undefined : shareCores(allowedCores(), ranks);
}
