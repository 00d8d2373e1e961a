import { z } from 'zod';

const count = z.int().nonnegative();

/** What one NIC of a host carried during the timed loop, and what the plans of all ranks put on it. */
const nicTrafficSchema = z.object({
  host: z.string(),
  /** Those whose plans use it; empty for a NIC that no plan uses. */
  ranks: z.array(count),
  nic: z.string(),
  txBytes: count,
  rxBytes: count,
  /** Payload: counters also hold headers and acknowledgements. */
  expectedTxBytes: count,
  expectedRxBytes: count.optional(),
  /** Where the device counts RDMA writes: what it sent as such. */
  rdmaWriteBytes: count.optional(),
  expectedRdmaWriteBytes: count.optional(),
  retransmits: count.optional(),
  drops: count.optional(),
});

export const pathSchema = z.object({
  nics: z.array(nicTrafficSchema),
  /** Null where that cannot be told. */
  asPlanned: z.boolean().nullable(),
  /**
   * `elsewhere`: some NIC carried less than planned. `sends-for-writes`: RDMA writes went as sends. Not told:
   * `no-counters`, `few-bytes` (background traffic could hide the difference), `small-messages` (headers could).
   */
  reason: z.string().optional(),
  /** Of a path that is not as planned: a sentence. */
  text: z.string().optional(),
  /** TCP segments that all hosts sent again, whatever the NIC; absent where none was. */
  tcpRetransmits: count.optional(),
});

/** What one NIC of a host carried during the timed loop, against what the plans put on it. */
export type NicTraffic = z.infer<typeof nicTrafficSchema>;
/** Which NICs a row's bytes went over. */
export type Path = z.infer<typeof pathSchema>;
