import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Nic } from '../fabric/nics.js';

/** One interface of a host, and the network it is on. */
export interface Rail {
  readonly nic: string;
  /** As `10.77.0.0/24`. */
  readonly network: string;
}

/** What of this host could be a rail: interfaces that are up, no loopback, no bridge of containers. */
export function railsOf(nics: readonly Nic[]): Rail[] {
  const interfaces = networkInterfaces();
  return nics
    .filter((nic) => nic.kind === 'ethernet' && nic.up && !nic.loopback)
    .filter((nic) => !existsSync(`/sys/class/net/${nic.name}/bridge`))
    .flatMap((nic) => {
      const entry = interfaces[nic.name]?.find((one) => one.address === nic.addresses[0]);
      return entry?.cidr ? [{ nic: nic.name, network: networkOf(entry.cidr) }] : [];
    });
}

/** The networks every rank is on, in the order of rank 0's interfaces. */
export function commonRails(everyones: readonly (readonly Rail[])[]): string[] {
  const [first = [], ...others] = everyones;
  const shared = first
    .map((rail) => rail.network)
    .filter((network) => others.every((rails) => rails.some((rail) => rail.network === network)));
  return [...new Set(shared)];
}

/** `10.77.3.9/24` is on `10.77.3.0/24`. IPv6 prefixes are compared as they are written, by their groups. */
export function networkOf(cidr: string): string {
  const [address = '', prefix = '0'] = cidr.split('/');
  const bits = Number(prefix);
  if (address.includes(':'))
    return `${address
      .split(':')
      .slice(0, Math.ceil(bits / 16))
      .join(':')}/${prefix}`;
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - bits);
  const start = Math.floor(number / size) * size;
  const parts = [24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256);
  return `${parts.join('.')}/${prefix}`;
}
