import { z } from 'zod';
import { diagnosisSchema } from './finding.js';
import { worldFactsSchema } from './host-facts.js';
import { pathSchema } from './path.js';
import { routingSchema } from './routing.js';
import { soakIntervalSchema } from './soak.js';
import { workloadShape } from './workload-figures.js';

/**
 * What a run says, as `--format json` prints it and run files hold it. Readers accept `weft.run/1`
 * for ever and ignore keys they do not know. Result data says null where a number is not known.
 */
export const runSchemaName = 'weft.run/1';

/** What `weft predict --format json` says in its place. */
export const predictionSchemaName = 'weft.prediction/1';

const outcomeSchema = z.enum(['passed', 'failed', 'skipped', 'aborted']);

const count = z.int().nonnegative();
const unknownable = z.number().nullable();

/** In nanoseconds per iteration, whatever the batch. */
const summarySchema = z.object({
  min: z.number(),
  mean: z.number(),
  p50: z.number(),
  p95: z.number(),
  p99: z.number(),
  max: z.number(),
  stddev: unknownable,
  ci95: z.tuple([z.number(), z.number()]).readonly().nullable(),
});

const labelsSchema = z.object({
  memory: z.enum(['host', 'pinned', 'staged', 'direct']).optional(),
  /** Why GPU memory went through pinned memory, where it did. */
  stagedBecause: z.string().optional(),
  producer: z.enum(['gpu', 'cpu']).optional(),
  grid: count.optional(),
  block: count.optional(),
  from: count.optional(),
  to: count.optional(),
  rail: z.string().optional(),
  /** What lies between two processes that share memory, where it decides what a row is. */
  path: z.enum(['same GPU', 'NVLink', 'PCIe', 'host memory']).optional(),
  /** Too small for a shaper's burst to average out: not held against its bound. */
  burst: z.boolean().optional(),
});

/** One pair of a row whose pairs take turns. */
const perPeerSchema = z.object({
  from: count,
  to: count,
  gbps: unknownable,
  nanoseconds: summarySchema.nullable(),
});

/** What one rank measured on its own clock. */
const perRankSchema = z.object({
  rank: count,
  host: z.string().optional(),
  nanoseconds: summarySchema.nullable(),
  /** The best time of its own NICs over that of the busiest rank's; absent: all ranks have as much to do. */
  load: z.number().min(0).max(1).optional(),
});

/** How long requests took, each from its start: this many quantiles from the fastest to the slowest, evenly apart. */
const requestTimesSchema = z.object({
  requests: count,
  /** Nanoseconds. */
  quantiles: z.array(z.number()),
});

/** Where the time of one request went: medians, in nanoseconds. */
const breakdownSchema = z.object({
  stages: z.array(z.object({ name: z.string(), p50: z.number(), p95: z.number() })),
  /** Requests that were looked at. */
  requests: count,
  /** How well the producer's clock is known on ours; 0 where they are one. Stages between them are ± this. */
  clockUncertaintyNanoseconds: z.number().nonnegative(),
  /** Samples that came out below 0 by that uncertainty and count as 0. */
  negativeSamples: count.optional(),
});

/** The median over rounds, and where it lies with 95 % confidence. */
const ratioSchema = z.object({
  ratio: z.number(),
  interval: z.tuple([z.number(), z.number()]).readonly(),
});

/** Of a row of another library: how many times as long Weft took, in rounds in which all took turns. */
const againstSchema = z.object({
  /** The library and its version. */
  library: z.string(),
  rounds: count,
  /** What the library's time includes besides its call: `packing`. Absent: the call alone. */
  includes: z.string().optional(),
  /** Of the bytes that all ranks asked the library to move, by pair of ranks; absent where it was given no counts. */
  moved: z.string().optional(),
  /** By Weft's column. */
  ratios: z.array(
    ratioSchema.extend({
      column: z.string(),
      /** The same with the library's call alone, where its time includes more. */
      callAlone: ratioSchema.optional(),
      /** Of the bytes that the column's plans move. */
      moved: z.string().optional(),
    }),
  ),
});

export const rowSchema = z.object({
  /** Of row-kinds.ts; open, so that rows of a kind that came later can be read. */
  kind: z.string(),
  column: z.string(),
  /** Null where the row stands for a whole column, which was skipped. */
  bytes: count.nullable(),
  count: count.nullable(),
  outcome: outcomeSchema,
  /** Why it was skipped, failed or aborted. */
  reason: z.string().optional(),
  noisy: z.boolean(),
  labels: labelsSchema,
  iterations: count,
  /** Iterations per sample. */
  batch: count,
  nanoseconds: summarySchema.nullable(),
  /** Integer nanoseconds, one per batch. */
  samples: z.array(count),
  /** How many there were, where `samples` is a selection of them; all other figures are over all. */
  samplesTaken: count.optional(),
  gbps: unknownable,
  lineGbps: unknownable,
  busbwPercent: unknownable,
  linePercent: unknownable,
  ofBoundPercent: unknownable,
  /** Where an iteration is a round trip: half its mean. */
  halfRoundTripNanoseconds: z.number().optional(),
  mops: z.number().optional(),
  /** Of a collective: what `auto` chose for this size, or what was asked for. */
  algorithm: z.string().optional(),
  ...workloadShape,
  /** Of an expert layer. */
  routing: routingSchema.optional(),
  /** Of the baseline's rate in the same run, in per cent; negative where it was faster. */
  lossPercent: z.number().optional(),
  breakdown: breakdownSchema.optional(),
  requestTimes: requestTimesSchema.optional(),
  /** What `labels.path` can carry, where the share of it is known. */
  peakGbps: z.number().optional(),
  /** nccl-tests' figures, GB/s of 1e9 bytes, where a row is a collective. */
  algbwGBps: z.number().optional(),
  busbwGBps: z.number().optional(),
  /** Which repeat of the whole measurement the row belongs to, from 0; absent where there is only one. */
  repeat: count.optional(),
  /** Of a pair over TCP: segments both hosts sent again while it was measured. */
  resent: count.optional(),
  /** The NICs' own counters of the timed loop; absent in files of older versions and where no plan ran. */
  path: pathSchema.optional(),
  against: againstSchema.optional(),
  /** Of a prediction: where the mean lies with 95 % confidence, in nanoseconds. */
  interval: z.tuple([z.number(), z.number()]).readonly().optional(),
  /** Of a prediction: hosts below a leaf switch were treated as alike, which is not exact. */
  hostsAlike: z.boolean().optional(),
  /** Of a soak: the interval that the row is; `repeat` is its number. */
  soak: soakIntervalSchema.optional(),
  checked: z.object({ bytes: count, wrong: count }),
  perPeer: z.array(perPeerSchema).optional(),
  perRank: z.array(perRankSchema).optional(),
});

const errorRecordSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  rank: count.optional(),
  host: z.string().optional(),
});

export const headerSchema = z.object({
  schema: z.literal(runSchemaName),
  id: z.string(),
  benchmark: z.string(),
  startedAt: z.iso.datetime(),
  world: z.object({
    ranks: count,
    hosts: z.array(z.string()),
    launcher: z.string(),
    /** The host of each rank; absent in files of older versions. */
    hostOfRank: z.array(z.string()).optional(),
    /** What should be equal on every host: kernel, drivers, MTU, …; absent in files of older versions. */
    facts: worldFactsSchema.optional(),
  }),
  fabric: z.object({
    library: z.string().nullable(),
    version: z.string().nullable(),
    provider: z.string().nullable(),
    channels: z.array(z.object({ nic: z.string().nullable(), lineRateGbps: unknownable })),
    /** Of efa: whether ranks of one host may use shared memory instead of the NICs, and who decided. */
    localShm: z.object({ allowed: z.boolean(), by: z.string() }).optional(),
    /** True where a channel's device is emulated: then nothing here was measured on such hardware. */
    emulated: z.boolean().optional(),
    /** The provider makes writes of sends: the hardware does not write to remote memory. */
    emulatedWrites: z.boolean().optional(),
  }),
  /** The options that shaped the run, by allow-list; never the environment. */
  settings: z.record(z.string(), z.json()),
});

export const footerSchema = z.object({
  endedAt: z.iso.datetime(),
  outcome: outcomeSchema,
  errors: z.array(errorRecordSchema),
  /** Of `pairs`: who is to blame, and how sure that is. */
  diagnosis: diagnosisSchema.optional(),
});

export const runSchema = headerSchema.extend({
  /** Null where the run never came to its end. */
  endedAt: z.iso.datetime().nullable(),
  outcome: outcomeSchema,
  rows: z.array(rowSchema),
  errors: z.array(errorRecordSchema),
  diagnosis: diagnosisSchema.optional(),
  /** Set in a prediction: then nothing was measured, and `fabric` describes the model. Run files never have it. */
  model: z
    .object({
      name: z.string(),
      source: z.string(),
      parameters: z.record(z.string(), z.number()),
    })
    .optional(),
});

/** How a row or a run ended. */
export type Outcome = z.infer<typeof outcomeSchema>;
/** What tells rows of the same column and size apart. */
export type Labels = z.infer<typeof labelsSchema>;
export type PerPeer = z.infer<typeof perPeerSchema>;
export type PerRank = z.infer<typeof perRankSchema>;
export type Breakdown = z.infer<typeof breakdownSchema>;
/** One measurement: a column at a size, with its samples and figures. */
export type Row = z.infer<typeof rowSchema>;
export type ErrorRecord = z.infer<typeof errorRecordSchema>;
/** What is known of a run before its first row. */
export type RunHeader = z.infer<typeof headerSchema>;
export type RunFooter = z.infer<typeof footerSchema>;
/** A whole run: where, how and when it was measured, its rows and its outcome. */
export type Run = z.infer<typeof runSchema>;
