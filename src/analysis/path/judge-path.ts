import type { NicTraffic, Path } from '../../results/path.js';
import {
  backgroundBytes,
  bytesOf,
  directions,
  type NicObservation,
  none,
  type Planned,
  type Shortfall,
  surplusOf,
} from './observation.js';
import { describeElsewhere, describeSends } from './words.js';

/** Less than this on a NIC could be background altogether. */
const leastBytes = 2 * backgroundBytes;
/** Below this, headers are so large a part of the bytes that they could stand for what went elsewhere. */
const leastMessageBytes = 1024;
/** Of a path that is not as planned, other NICs are kept from this share of what the host's plans carry. */
const unexpectedShare = 0.01;

/**
 * Whether every NIC carried what the plans put on it. Counters hold at least the payload, so a NIC is short when it
 * counted less than that; more proves nothing, since others may use it too. A path is as planned only where the
 * counters of every NIC that matters say so.
 */
export function judgePath(observed: readonly NicObservation[]): Path {
  const verdict = verdictOf(observed);
  const astray = verdict.asPlanned === false;
  const kept = observed.filter(
    (one) => one.planned !== undefined || (astray && isUnexpected(one, observed)),
  );
  return { nics: kept.flatMap(entryOf), ...verdict };
}

function verdictOf(observed: readonly NicObservation[]): Omit<Path, 'nics'> {
  const used = observed.filter(({ planned }) => planned !== undefined);
  const short = used.flatMap(shortfallsOf);
  if (short.length > 0) {
    return { asPlanned: false, reason: 'elsewhere', text: describeElsewhere(short, observed) };
  }
  const sent = used.filter(sendsForWrites);
  if (sent.length > 0) {
    return { asPlanned: false, reason: 'sends-for-writes', text: describeSends(sent) };
  }
  const judged = used.filter(({ planned }) => isEnough(planned!));
  if (used.length === 0 || judged.some(({ carried }) => !carried)) {
    return { asPlanned: null, reason: 'no-counters' };
  }
  if (judged.length === 0) return { asPlanned: null, reason: 'few-bytes' };
  if (judged.every(({ planned }) => hasSmallMessages(planned!))) {
    return { asPlanned: null, reason: 'small-messages' };
  }
  return { asPlanned: true };
}

const isEnough = ({ txBytes, rxBytes }: Planned): boolean =>
  txBytes >= leastBytes || rxBytes >= leastBytes;

const hasSmallMessages = ({ txBytes, rxBytes, messages }: Planned): boolean =>
  txBytes + rxBytes < leastMessageBytes * messages;

function shortfallsOf(on: NicObservation): Shortfall[] {
  const { planned, carried } = on;
  if (!planned || !carried) return [];
  return directions.flatMap((direction) => {
    const [wanted, got] = [bytesOf(planned, direction), bytesOf(carried, direction)];
    if (wanted < leastBytes || got >= wanted - backgroundBytes) return [];
    return [{ on, direction, carried: got, planned: wanted }];
  });
}

const sendsForWrites = ({ planned, carried }: NicObservation): boolean =>
  planned !== undefined &&
  carried?.rdmaWriteBytes !== undefined &&
  planned.writeBytes >= leastBytes &&
  carried.rdmaWriteBytes < planned.writeBytes - backgroundBytes;

function isUnexpected(one: NicObservation, observed: readonly NicObservation[]): boolean {
  const ofHost = observed.filter(({ place }) => place === one.place);
  return directions.some((way) => {
    const planned = ofHost.reduce((sum, on) => sum + bytesOf(on.planned ?? none, way), 0);
    const surplus = surplusOf(one, way);
    return surplus > 0 && surplus >= unexpectedShare * planned;
  });
}

function entryOf({ host, ranks, nic, planned = none, carried }: NicObservation): NicTraffic[] {
  if (!carried) return [];
  const { rdmaWriteBytes, retransmits, drops } = carried;
  return [
    {
      host,
      ranks: [...ranks],
      nic,
      txBytes: carried.txBytes,
      rxBytes: carried.rxBytes,
      expectedTxBytes: planned.txBytes,
      expectedRxBytes: planned.rxBytes,
      ...(rdmaWriteBytes !== undefined && {
        rdmaWriteBytes,
        expectedRdmaWriteBytes: planned.writeBytes,
      }),
      ...(retransmits && { retransmits }),
      ...(drops && { drops }),
    },
  ];
}
