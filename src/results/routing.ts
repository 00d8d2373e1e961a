import { z } from 'zod';

const count = z.int().nonnegative();

/** Which tokens of an expert layer went where: what the row's traffic was made from. */
export const routingSchema = z.object({
  /** As it was asked for: `uniform`, `zipf:1.2`, a file. */
  kind: z.string(),
  /** Of every token's experts and weights and the place of every expert: equal hashes, equal traffic. */
  hash: z.string(),
  /** By rank. */
  tokens: z.array(count),
  /** What would be sent if each token went to each of its experts, over what is sent. */
  dedup: z.number(),
  /** By rank, per iteration. */
  bytesOut: z.array(count),
  bytesIn: z.array(count),
  experts: count,
  /**
   * Tokens by rank and expert. With more than 64 ranks or 256 experts, neighbours are added up: entry i of n stands for
   * those from i/n of all on.
   */
  counts: z.array(z.array(count)),
  /** By expert: the rank that hosts it; absent where experts were added up. */
  hosts: z.array(count).optional(),
});

export type RoutingFacts = z.infer<typeof routingSchema>;
