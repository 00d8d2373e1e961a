import { freemem } from 'node:os';
import { WeftError } from '../../errors.js';
import { listNics } from '../../fabric/nics.js';
import { gpuAvailability } from '../../gpu/gpu.js';
import type { Topology } from '../../topology/model.js';
import { type Placement, type PlaceOptions, placeRanks } from '../../topology/place.js';
import { readSysfs } from '../../topology/sysfs.js';

/** The machine this process runs on, as far as it decides where ranks go. */
export interface Machine {
  readonly topology: Topology;
  /** PCI addresses of the GPUs this process may use: the n-th is CUDA's number n. */
  readonly gpus: readonly string[];
}

/** CUDA says which GPUs it gives this process, and in which order; without it CUDA_VISIBLE_DEVICES is believed. */
export function readMachine(env: NodeJS.ProcessEnv = process.env): Machine {
  const known = gpuAvailability().gpus.map(({ pci }) => pci);
  const topology = readSysfs({ nics: listNics(), gpus: known });
  return { topology, gpus: known.length > 0 ? known : visibleGpus(topology, env) };
}

export interface PlaceHere extends Pick<PlaceOptions, 'localRanks' | 'offered' | 'allowedCores'> {
  /** CUDA's numbers. */
  readonly gpus?: readonly number[] | undefined;
}

/** Places the ranks of this machine by its GPUs; undefined when there is none to use. */
export function placeHere(machine: Machine, options: PlaceHere): Placement[] | undefined {
  const { gpus: wanted, ...rest } = options;
  if (machine.gpus.length === 0) return undefined;
  const gpus = wanted?.map((number) => addressOf(number, machine.gpus)) ?? machine.gpus;
  return placeRanks({ topology: machine.topology, gpus, ...rest });
}

function addressOf(number: number, gpus: readonly string[]): string {
  const address = gpus[number];
  if (address !== undefined) return address;
  throw new WeftError('BAD_USAGE', `\`gpus\`: there is no GPU ${number}`, {
    hint: `GPUs here are 0 to ${gpus.length - 1}; \`weft info\` shows them.`,
  });
}

/**
 * PCI addresses of the GPUs that CUDA_VISIBLE_DEVICES leaves to a process, in CUDA's order, as far as it can be known
 * without asking CUDA: GPUs of one kind are numbered by their addresses. A list ends where it names none, as CUDA
 * reads it; names (`GPU-…`, `MIG-…`) cannot be told apart here and leave all.
 */
export function visibleGpus(
  { gpus }: Pick<Topology, 'gpus'>,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const all = gpus.map(({ pci }) => pci);
  const list = env.CUDA_VISIBLE_DEVICES;
  if (list === undefined || /^\s*(?:GPU|MIG)-/.test(list)) return all;
  const visible: string[] = [];
  for (const part of list.split(',')) {
    const address = /^\s*\d+\s*$/.test(part) ? all[Number(part)] : undefined;
    if (address === undefined) break;
    visible.push(address);
  }
  return visible;
}

/** Of a process with Node and libfabric in it, before it has any buffers. */
const leastBytesOfRank = 48 * 2 ** 20;

/** Thousands of processes would make a machine unusable before the first of them failed. */
export function refuseTooMany(ranks: number): void {
  const most = Math.max(1, Math.floor(freemem() / leastBytesOfRank));
  if (ranks <= most) return;
  throw new WeftError('BAD_USAGE', `this machine has too little memory for ${ranks} ranks`, {
    hint: `Each rank needs about 48 MiB besides its buffers: start at most ${most} here.`,
  });
}
