import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Nic } from '../fabric/nics.js';
import { sysfsRoot } from '../topology/sysfs-files.js';

/** One interface of a host, and the network it is on. */
export interface Rail {
  readonly nic: string;
  /** As `10.77.0.0/24`. */
  readonly network: string;
}

/** What of this host could be a rail: interfaces that are up, no loopback, no bridge of containers. */
function railsOf(nics: readonly Nic[]): Rail[] {
  const interfaces = networkInterfaces();
  return nics
    .filter((nic) => nic.kind === 'ethernet' && nic.up && !nic.loopback && !nic.management)
    .filter((nic) => !existsSync(`${sysfsRoot()}/class/net/${nic.name}/bridge`))
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

/** What a rank tells the others of its interfaces. */
export interface RailReport {
  readonly rails: readonly Rail[];
  /** Interfaces that are set up but have no carrier. */
  readonly noCarrier: readonly string[];
}

export const reportRails = (nics: readonly Nic[]): RailReport => ({
  rails: railsOf(nics),
  noCarrier: nics.filter((nic) => nic.noCarrier && !nic.management).map((nic) => nic.name),
});

/** A network that would be a rail if these hosts' interfaces had a carrier. */
export interface BrokenRail extends Rail {
  readonly hosts: readonly string[];
}

/** Without them a job would quietly run on fewer rails. An interface is known by its name on the other hosts. */
export function brokenRails(
  reports: readonly RailReport[],
  hosts: readonly string[],
): BrokenRail[] {
  const seen = new Map<string, Rail>();
  for (const { rails } of reports) for (const rail of rails) seen.set(rail.network, rail);
  return [...seen.values()].flatMap((rail) => {
    const without = [...reports.keys()].filter(
      (rank) => !reports[rank]!.rails.some(({ network }) => network === rail.network),
    );
    const pulled = without.filter((rank) => reports[rank]!.noCarrier.includes(rail.nic));
    return pulled.length > 0 && pulled.length === without.length
      ? [{ ...rail, hosts: [...new Set(pulled.map((rank) => hosts[rank]!))] }]
      : [];
  });
}

/** A network that more than half of the ranks have, and some lack. */
interface LackingRail extends Rail {
  readonly having: readonly number[];
  readonly without: readonly number[];
}

/** Hosts may have networks of their own; one that most have was meant to be a rail. */
export function lackingRails(
  everyones: readonly (readonly Rail[])[],
  common: readonly string[],
): LackingRail[] {
  const all = new Map(everyones.flat().map((rail) => [rail.network, rail]));
  return [...all.values()].flatMap((rail) => {
    const has = (rank: number) => everyones[rank]!.some(({ network }) => network === rail.network);
    const ranks = [...everyones.keys()];
    const having = ranks.filter(has);
    const usual = 2 * having.length > ranks.length && !common.includes(rail.network);
    return usual ? [{ ...rail, having, without: ranks.filter((rank) => !has(rank)) }] : [];
  });
}

/** `10.77.3.9/24` is on `10.77.3.0/24`; `fd00::9/64` is on the network with the number of `fd00::`, in hexadecimal. */
export function networkOf(cidr: string): string {
  const [address = '', prefix = '0'] = cidr.split('/');
  const isV6 = address.includes(':');
  const width = isV6 ? 128n : 32n;
  const hostBits = width - BigInt(prefix);
  const start = ((isV6 ? numberOfV6(address) : numberOfV4(address)) >> hostBits) << hostBits;
  if (isV6) return `${start.toString(16).padStart(32, '0')}/${prefix}`;
  const parts = [24n, 16n, 8n, 0n].map((shift) => (start >> shift) & 255n);
  return `${parts.join('.')}/${prefix}`;
}

const numberOfV4 = (address: string): bigint =>
  address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);

function numberOfV6(address: string): bigint {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].reduce(
    (sum, group) => (sum << 16n) | BigInt(`0x${group}`),
    0n,
  );
}
