import { allowedCores, pinToCores } from '../../native/process.js';
import { shareCores } from '../../topology/place.js';
import { type Machine, placeHere, readMachine } from './machine.js';

interface PinOptions {
  readonly pin: 'auto' | 'none';
  readonly localRanks: number;
  /** CUDA's numbers of the GPUs they take in turn. */
  readonly gpus?: readonly number[] | undefined;
}

/**
 * Where `auto` puts the ranks of this machine, within the cores this process may use: on a machine with GPUs each to
 * its share of the cores of its GPU's NUMA node, else in equal shares of all cores.
 */
export function pinPlan(
  { pin, localRanks, gpus }: PinOptions,
  machine: () => Machine = readMachine,
  allowed: () => number[] = allowedCores,
): readonly (readonly number[])[] | undefined {
  if (pin === 'none') return undefined;
  const cores = allowed();
  const places = placeHere(machine(), { localRanks, gpus, allowedCores: cores });
  const near = places?.flatMap((place) => (place.cores ? [place.cores] : []));
  return near?.length === localRanks ? near : shareCores(cores, localRanks);
}

/**
 * The same for a rank that a launcher started: it moves to its share of its GPU's node. Where the launcher has bound
 * its ranks to cores, or there is no GPU, they stay where they are. The cores, if it moved.
 */
export function pinUnderLauncher(
  { localRank, ...options }: PinOptions & { readonly localRank: number },
  machine: () => Machine = readMachine,
  allowed: () => number[] = allowedCores,
  pinTo: (cores: number[]) => void = pinToCores,
): readonly number[] | undefined {
  if (options.pin === 'none') return undefined;
  const here = machine();
  const mine = new Set(allowed());
  const bound = here.topology.numaNodes.some(({ cores }) => cores.some((core) => !mine.has(core)));
  const cores = bound ? undefined : placeHere(here, options)?.[localRank]?.cores;
  if (cores) pinTo([...cores]);
  return cores;
}
