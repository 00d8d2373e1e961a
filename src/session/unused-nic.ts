import { groupBy } from '../measure/group.js';

type UnusedReason =
  | 'no-carrier' // an interface that is set up and has no link, where other hosts have one
  | 'port-down' // an RDMA device whose port is not active
  | 'not-offered' // libfabric has no endpoint for it
  | 'other-kind' // of another technology or rate than the NICs in use
  | 'does-not-open' // libfabric offers it, and opening an endpoint on it fails
  | 'does-not-reach' // what `host` sends on it does not come to `peer`
  | 'fewer-elsewhere'; // a rank on `peer` has fewer NICs near its GPU, and has no counterpart for it

/** A NIC that could have been a rail of this session and carries nothing. */
export interface UnusedNic {
  /** Of a NIC that does not reach a peer: as this rank calls the rail, whose NICs may have other names elsewhere. */
  readonly nic: string;
  readonly host: string;
  readonly reason: UnusedReason;
  /** The reason in words, to be read after the NIC's name. */
  readonly text: string;
  /** The host at the other end, where the reason has one. */
  readonly peer?: string;
}

/** Cause of the error that ends a session which no rail, or not every rail, can carry. */
export class NoRail extends Error {
  readonly unused: readonly UnusedNic[];

  constructor(unused: readonly UnusedNic[]) {
    super(describeUnused(unused).join('; '));
    this.unused = unused;
  }
}

/** Whether the network is at fault, which is for a diagnosis to name, and not this machine or the choice of NICs. */
export const isNetworkFault = ({ reason }: UnusedNic): boolean =>
  reason === 'no-carrier' || reason === 'does-not-reach';

/** How many hosts are named; the rest is counted. */
const mostHosts = 4;

/** One sentence per NIC and reason, whichever hosts it is about: `efa1 on h1, h2: cannot be opened`. */
export function describeUnused(unused: readonly UnusedNic[]): string[] {
  const groups = groupBy(unused, ({ nic, text }) => JSON.stringify([nic, text])).values();
  return [...groups].map((alike) => {
    const { nic, text } = alike[0]!;
    const hosts = [...new Set(alike.map(({ host }) => host))];
    const more = hosts.length - mostHosts;
    const where = more > 0 ? [...hosts.slice(0, mostHosts), `${more} more`] : hosts;
    return `${nic} on ${where.join(', ')}: ${text}`;
  });
}

/** Several ranks tell of the same NIC. */
export const distinct = (unused: readonly UnusedNic[]): UnusedNic[] => [
  ...new Map(unused.map((one) => [JSON.stringify(one), one])).values(),
];
