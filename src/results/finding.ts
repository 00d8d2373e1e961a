import { z } from 'zod';
import { pathSchema } from './path.js';

const count = z.int().nonnegative();

/** Which way: what leaves the place named, what comes to it, or both. Of a pair: from → to only, or both ways. */
const directionSchema = z.enum(['out', 'in', 'both']);

/** Who is meant. A host has its name, a NIC host and nic, a rank rank and host, a pair both ends. */
const whoSchema = z.object({
  host: z.string().optional(),
  /** Of a difference: the odd hosts, or all where no value has more than half of them. */
  hosts: z.array(z.string()).optional(),
  rank: count.optional(),
  /** Of a leaf, and of the links between it and its spine. */
  leaf: z.string().optional(),
  spine: z.string().optional(),
  /** The interface or device; with `cause: 'rail'` that of every host. */
  nic: z.string().optional(),
  /** The channel's number. */
  rail: count.optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  direction: directionSchema,
});

const findingSchema = z.object({
  /** uplink: the links between a leaf and its spine; core: what connects spines. */
  cause: z.enum(['host', 'nic', 'rail', 'pair', 'rank', 'leaf', 'uplink', 'spine', 'core']),
  who: whoSchema,
  /**
   * slow: bandwidth; late: latency; loss: packets sent again; stalls: the process itself stood still; down: nothing
   * comes through; differs: the hosts are not set up alike.
   */
  symptom: z.enum(['slow', 'late', 'loss', 'stalls', 'down', 'differs']),
  /** Of `differs`: what differs, a key of `world.facts`. */
  fact: z.string().optional(),
  /** Against the healthy: 0.7 is 70 % of their bandwidth, or 3 times their latency for `late`; 0 for `down`, 1 for `differs`. */
  effect: z.number(),
  confidence: z.number().min(0).max(1),
  /** One sentence each: why we say so, and what to look at. */
  evidence: z.string(),
  next: z.string(),
});

/** How much of the time a rank's process did not run, as its own clock saw it. */
const paceSchema = z.object({
  rank: count,
  wallMs: z.number(),
  /** Wake-ups that came late, summed. */
  lostMs: z.number(),
  /** Of that, spent in the queue for a core; null where the kernel does not say. */
  queuedMs: z.number().nullable(),
  longestMs: z.number(),
});

/** One direction of a pair, measured again with few other pairs or none. */
const retestSchema = z.object({
  from: count,
  to: count,
  rail: count,
  gbps: z.number(),
  latencyNanoseconds: z.number(),
  latencyMeanNanoseconds: z.number(),
  /** TCP segments that both hosts sent again meanwhile; null where the kernel does not say. */
  resent: count.nullable(),
  control: z.boolean(),
  /** Of a part of the network, which is measured with many pairs at once: the one pair that was measured by itself. */
  alone: z.boolean().optional(),
  /** Only where it is not as planned. */
  path: pathSchema.optional(),
});

const shareSchema = z.object({ covered: count, all: count });

/** What a scan measured, of what there is. */
const scanSchema = z.object({
  /** Which pairs were chosen; absent: all. */
  scope: z.enum(['leaf', 'spine', 'all']).optional(),
  /** The network description. */
  network: z.string().optional(),
  rounds: count,
  /** Of the rounds, those that looked closer at what stood out in the others. */
  closerRounds: count,
  pairs: shareSchema,
  hosts: shareSchema,
  nics: shareSchema,
  leaves: shareSchema.optional(),
  crossings: shareSchema.optional(),
});

export const diagnosisSchema = z.object({
  /** False where suspects could not be retested: then the findings are suspicions. */
  retested: z.boolean(),
  findings: z.array(findingSchema),
  /** What looked bad and was not when measured alone, a sentence each. */
  notConfirmed: z.array(z.string()),
  pace: z.array(paceSchema),
  retests: z.array(retestSchema),
  /** Absent in files of older versions. */
  scan: scanSchema.optional(),
});

export type Direction = z.infer<typeof directionSchema>;
export type Who = z.infer<typeof whoSchema>;
export type Finding = z.infer<typeof findingSchema>;
export type Pace = z.infer<typeof paceSchema>;
export type Retest = z.infer<typeof retestSchema>;
export type Scan = z.infer<typeof scanSchema>;
export type Diagnosis = z.infer<typeof diagnosisSchema>;
