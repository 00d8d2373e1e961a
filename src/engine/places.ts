import { isWeftError, WeftError } from '../errors.js';

/** Where ranks and channels are: the host of each rank, the NIC of each channel. */
export interface Places {
  readonly hosts: readonly string[];
  readonly nics: readonly string[];
}

/**
 * A transfer's fault as people look for it: by host and NIC. The native side knows ranks by number, and NICs only where
 * the provider names them. Hosts are left out where all ranks share one.
 */
export function withPlaces(error: unknown, { hosts, nics }: Places): unknown {
  if (!isWeftError(error, 'TIMEOUT') && !isWeftError(error, 'FABRIC_FAULT')) return error;
  const several = new Set(hosts).size > 1;
  const message = error.message
    .replaceAll(/\brank (\d+)\b(?! on host)/g, (text, rank) => {
      const host = hosts[Number(rank)];
      return several && host !== undefined ? `${text} on host ${host}` : text;
    })
    .replaceAll(/\bchannel (\d+)\b(?! \()/g, (text, channel) => {
      const nic = nics[Number(channel)];
      return nic === undefined ? text : `${text} (${nic})`;
    });
  const { code, hint, cause } = error;
  return new WeftError(code, message, { ...(hint !== undefined && { hint }), cause });
}
