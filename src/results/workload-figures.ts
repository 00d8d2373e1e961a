import { z } from 'zod';

/** A figure that only some benchmarks have: a key of a row, and how tables show it. */
export interface WorkloadFigure {
  /** As a table's heading spells it. */
  readonly name: string;
  readonly unit: string;
  readonly digits: number;
  /** How many of the key's unit are one of the table's. */
  readonly per?: number;
  /** What it says, for the notes below a table. */
  readonly meaning: string;
}

/** Every figure of a row beyond its time and rate; a new one is an entry here. */
export const workloadFigures = {
  tokensPerSecond: {
    name: 'Tokens',
    unit: '1/s',
    digits: 0,
    meaning: 'tokens of all ranks per second',
  },
  usefulGbps: {
    name: 'Useful',
    unit: 'Gbps',
    digits: 2,
    meaning: 'what would be sent if each token went to each of its experts',
  },
  imbalance: {
    name: 'Imbal',
    unit: 'x',
    digits: 2,
    meaning: 'bytes of the busiest rank over the mean of all ranks',
  },
  fairness: {
    name: 'Fair',
    unit: '%',
    digits: 1,
    meaning: 'the slowest sender’s rate over the mean of all senders while all of them send',
  },
  totalGbps: {
    name: 'Total',
    unit: 'Gbps',
    digits: 2,
    meaning: 'what all ranks send together',
  },
  worstGbps: { name: 'Worst', unit: 'Gbps', digits: 2, meaning: 'the slowest of all turns' },
  worstSeed: {
    name: 'Worst',
    unit: 'seed',
    digits: 0,
    meaning: 'the seed of the slowest permutation; --permutations 1 --seed runs it again',
  },
  slowdown: {
    name: 'Slow',
    unit: 'x',
    digits: 2,
    meaning: 'the median time under load over that alone, in the same run',
  },
  aloneP50Nanoseconds: {
    name: 'Alone p50',
    unit: 'us',
    per: 1000,
    digits: 2,
    meaning: 'the median of the same without load, in the same run',
  },
  aloneP99Nanoseconds: {
    name: 'Alone p99',
    unit: 'us',
    per: 1000,
    digits: 2,
    meaning: 'the 99th percentile of the same without load, in the same run',
  },
  operationsPerSecond: {
    name: 'Ops',
    unit: '1/s',
    digits: 0,
    meaning: 'transfers posted per second, by all ranks',
  },
  lastPageP50Nanoseconds: {
    name: 'Last p50',
    unit: 'us',
    per: 1000,
    digits: 1,
    meaning: 'time from a request’s start to its last page, median over requests',
  },
  lastPageP99Nanoseconds: {
    name: 'Last p99',
    unit: 'us',
    per: 1000,
    digits: 1,
    meaning: 'time from a request’s start to its last page, 99th percentile over requests',
  },
  handedOverGBps: {
    name: 'All',
    unit: 'GB/s',
    digits: 2,
    meaning: 'pages of all requests, 1e9 bytes per second',
  },
  coalescedPercent: {
    name: 'Saved',
    unit: '%',
    digits: 1,
    meaning: 'operations that coalescing saved, of those without it',
  },
} as const satisfies Record<string, WorkloadFigure>;

export type WorkloadKey = keyof typeof workloadFigures;
export type WorkloadValues = { readonly [K in WorkloadKey]?: number | undefined };

export const workloadKeys = Object.keys(workloadFigures) as WorkloadKey[];

/** For the schema of a row. */
export const workloadShape = Object.fromEntries(
  workloadKeys.map((key) => [key, z.number().optional()]),
) as { [K in WorkloadKey]: z.ZodOptional<z.ZodNumber> };
