import { formatDecimalBytes, plural } from '../../measure/units.js';
import { backgroundBytes, type NicObservation, type Shortfall, surplusOf } from './observation.js';

export const notAsPlanned = 'path not as planned';

/** Another NIC is named when it has at least this share of what is missing. */
const tellingShare = 0.1;

/** The NIC that lacks most, and where its bytes went. What a host did not send, another did not receive. */
export function describeElsewhere(
  short: readonly Shortfall[],
  observed: readonly NicObservation[],
): string {
  const sent = short.filter(({ direction }) => direction === 'tx');
  const [worst, ...rest] = [...(sent.length > 0 ? sent : short)].sort(
    (a, b) => missing(b) - missing(a),
  );
  const { on, direction, carried, planned } = worst!;
  const verb = direction === 'tx' ? 'carried' : 'received';
  const amounts = `${formatDecimalBytes(carried)} of ${formatDecimalBytes(planned)}`;
  const more = rest.length === 0 ? '' : ` (${plural(rest.length, 'other NIC')} also short)`;
  return `${notAsPlanned}: ${on.nic} on ${on.host} ${verb} ${amounts}; ${whereTo(worst!, observed)}${more}`;
}

const missing = ({ planned, carried }: Shortfall): number => planned - carried;

function whereTo(short: Shortfall, observed: readonly NicObservation[]): string {
  const { on, direction } = short;
  const lacking = missing(short);
  const found = observed
    .filter((one) => one !== on && one.place === on.place)
    .map(({ nic, ...rest }) => ({ nic, bytes: surplusOf({ nic, ...rest }, direction) }))
    .filter(({ bytes }) => bytes > 0 && bytes >= tellingShare * lacking)
    .sort((a, b) => b.bytes - a.bytes)
    .map(
      ({ nic, bytes }) =>
        `${formatDecimalBytes(Math.min(bytes + backgroundBytes, lacking))} went over ${nic}`,
    );
  return found.length > 0 ? found.join(', ') : 'no other NIC carried the rest';
}

/** Bytes are where they should be, but the device did not write them into the peer's memory. */
export function describeSends(sent: readonly NicObservation[]): string {
  const [first] = sent;
  const { nic, host, carried, planned } = first!;
  const amounts = `${formatDecimalBytes(carried!.rdmaWriteBytes!)} of ${formatDecimalBytes(planned!.writeBytes)}`;
  const more = sent.length === 1 ? '' : ` (${plural(sent.length - 1, 'other NIC')} did the same)`;
  return `${notAsPlanned}: ${nic} on ${host} carried ${amounts} as RDMA writes and the rest as sends${more}`;
}
