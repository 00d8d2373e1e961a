/** Payload that plans put on a NIC. */
export interface Planned {
  readonly txBytes: number;
  readonly rxBytes: number;
  /** Of `txBytes`, what the device must send as RDMA writes. */
  readonly writeBytes: number;
  /** Messages sent and received. */
  readonly messages: number;
}

/** What the counters of a NIC gained. */
export interface Carried {
  readonly txBytes: number;
  readonly rxBytes: number;
  readonly rdmaWriteBytes?: number;
  readonly retransmits?: number;
  readonly drops?: number;
}

/** One NIC of one host. */
export interface NicObservation {
  /** The number of its host: names may repeat. */
  readonly place: number;
  readonly host: string;
  readonly ranks: readonly number[];
  readonly nic: string;
  /** Undefined: no plan uses it. */
  readonly planned?: Planned | undefined;
  /** Undefined: it has no counters that can be read. */
  readonly carried?: Carried | undefined;
  readonly mtu?: number | undefined;
}

/** On one NIC in one direction, what others may send meanwhile: ARP, heartbeats, a login. */
export const backgroundBytes = 64 * 2 ** 10;

/** Ethernet 14, IPv6 40, TCP 20 and its timestamps 12; headers of RDMA are smaller. */
const headerBytes = 86;
const headersInMtu = 72;
/** The smallest that RDMA uses in practice: sysfs does not tell the MTU of an RDMA port. */
const assumedMtu = 1024;

/**
 * The most that a NIC may count in one direction for `own` bytes of payload that way and `other` the other way: a header
 * for every segment, and an acknowledgement for every segment of the other direction.
 */
export function mostBytes(own: number, other: number, mtu = assumedMtu): number {
  const overhead = headerBytes / Math.max(1, mtu - headersInMtu);
  return own + (own + other) * overhead + backgroundBytes;
}

export const directions = ['tx', 'rx'] as const;
export type Direction = (typeof directions)[number];

/** A NIC that carried less than planned. */
export interface Shortfall {
  readonly on: NicObservation;
  readonly direction: Direction;
  readonly carried: number;
  readonly planned: number;
}

export const none: Planned = { txBytes: 0, rxBytes: 0, writeBytes: 0, messages: 0 };
export const bytesOf = (
  from: { txBytes: number; rxBytes: number },
  direction: Direction,
): number => (direction === 'tx' ? from.txBytes : from.rxBytes);

/** Beyond what plans, headers, acknowledgements and background explain; 0 without counters. */
export function surplusOf({ planned = none, carried, mtu }: NicObservation, way: Direction) {
  if (!carried) return 0;
  const most = mostBytes(bytesOf(planned, way), bytesOf(planned, way === 'tx' ? 'rx' : 'tx'), mtu);
  return Math.max(0, bytesOf(carried, way) - most);
}

export const addPlanned = (
  { txBytes, rxBytes, writeBytes, messages }: Planned = none,
  more: Planned,
): Planned => ({
  txBytes: txBytes + more.txBytes,
  rxBytes: rxBytes + more.rxBytes,
  writeBytes: writeBytes + more.writeBytes,
  messages: messages + more.messages,
});
