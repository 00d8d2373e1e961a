import { z } from 'zod';

const count = z.int().nonnegative();

/** Somebody who may have caused a stall, or did. */
const suspectSchema = z.object({
  host: z.string(),
  ranks: z.array(count),
  nic: z.string().optional(),
  /**
   * `link-down`: the link of the NIC was down. `not-running`: the rank's process did not run. `awaited`: every rank that
   * waited, waited for these. `pair`: the two ends of a transfer, one or both of them or what lies between.
   */
  why: z.enum(['link-down', 'not-running', 'awaited', 'pair']),
});

/** A time in which an iteration took much longer than usual. */
const stallSchema = z.object({
  /** When it began, on rank 0's clock. */
  at: z.iso.datetime(),
  /** Beyond what is usual. */
  milliseconds: z.number().nonnegative(),
  /** `between`: in the barrier between two timed loops. */
  during: z.enum(['iteration', 'between', 'verification']),
  /** The two ranks that had a turn. */
  pair: z.tuple([count, count]).readonly().optional(),
  /** Who waited for whom; at most 16 ranks. */
  waiting: z.array(z.object({ rank: count, for: z.array(count) })),
  suspects: z.array(suspectSchema),
  /** The suspects did it: their own counters or clocks say so. */
  proven: z.boolean(),
  /** TCP segments that hosts sent again in that loop. */
  resent: z.record(z.string(), count).optional(),
});

/** A link that was down for a while. */
const linkDownSchema = z.object({
  at: z.iso.datetime(),
  host: z.string(),
  ranks: z.array(count),
  nic: z.string(),
  /** Null where it was down when the soak ended. */
  milliseconds: z.number().nonnegative().nullable(),
});

/** What the counters of all NICs gained together. */
const totalsSchema = z.object({
  nics: count,
  txBytes: count,
  rxBytes: count,
  retransmits: count,
  drops: count,
});

/** Of a row that is one interval of a soak. Its samples are a few that are spread as all were. */
export const soakIntervalSchema = z.object({
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  p999: z.number(),
  /** The longest 20. */
  stalls: z.array(stallSchema),
  stallCount: count,
  links: z.array(linkDownSchema),
  /** Of all NICs, even where the row lists only some of them. */
  counters: totalsSchema.optional(),
  /** Connections were opened anew for this interval. */
  reopened: z.boolean().optional(),
});

export type Suspect = z.infer<typeof suspectSchema>;
export type Stall = z.infer<typeof stallSchema>;
export type LinkDown = z.infer<typeof linkDownSchema>;
export type NicTotals = z.infer<typeof totalsSchema>;
export type SoakInterval = z.infer<typeof soakIntervalSchema>;
