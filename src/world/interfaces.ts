import type { NetworkInterfaceInfo } from 'node:os';
import { WeftError } from '../errors.js';
import type { Environment } from './identity.js';

export type Interfaces = Readonly<Record<string, NetworkInterfaceInfo[] | undefined>>;

/** Which interface to use, and which setting said so, as messages name it. */
interface InterfaceChoice {
  readonly wanted: string;
  readonly from: '`iface`' | 'GLOO_SOCKET_IFNAME' | 'NCCL_SOCKET_IFNAME';
}

export function chooseInterface(env: Environment, iface?: string): InterfaceChoice | undefined {
  if (iface !== undefined) return { wanted: iface, from: '`iface`' };
  if (env.GLOO_SOCKET_IFNAME) return { wanted: env.GLOO_SOCKET_IFNAME, from: 'GLOO_SOCKET_IFNAME' };
  if (env.NCCL_SOCKET_IFNAME) return { wanted: env.NCCL_SOCKET_IFNAME, from: 'NCCL_SOCKET_IFNAME' };
  return undefined;
}

/** Names that fit, best first: exact for `iface` and gloo; for NCCL prefixes, `=exact` or `^not,these`. */
export function matchInterfaces(choice: InterfaceChoice, names: readonly string[]): string[] {
  const parts = (text: string) => text.split(',').map((part) => part.trim());
  if (choice.from !== 'NCCL_SOCKET_IFNAME') {
    return parts(choice.wanted).filter((name) => names.includes(name));
  }
  const mark = /^\^?=?/.exec(choice.wanted)?.[0] ?? '';
  const patterns = parts(choice.wanted.slice(mark.length)).filter((part) => part !== '');
  const fits = (name: string, pattern: string) =>
    mark.includes('=') ? name === pattern : name.startsWith(pattern);
  if (mark.includes('^')) {
    return names.filter((name) => !patterns.some((pattern) => fits(name, pattern)));
  }
  return patterns.flatMap((pattern) => names.filter((name) => fits(name, pattern)));
}

const usable = ({ address }: NetworkInterfaceInfo): boolean => !address.startsWith('fe80:');

/** The address of the chosen interface. IPv4 first, unless rank 0 is named by an IPv6 address. */
export function addressOf(
  choice: InterfaceChoice,
  interfaces: Interfaces,
  preferIPv6: boolean,
): string {
  const names = matchInterfaces(choice, Object.keys(interfaces));
  // `^docker` excludes; it does not ask for loopback.
  const excluding = choice.from === 'NCCL_SOCKET_IFNAME' && choice.wanted.startsWith('^');
  for (const name of names) {
    const all = (interfaces[name] ?? []).filter(
      (info) => usable(info) && !(excluding && info.internal),
    );
    const families = preferIPv6 ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6'];
    for (const family of families) {
      const found = all.find((info) => info.family === family);
      if (found !== undefined) return found.address;
    }
  }
  throw noInterface(`${choice.from}=${choice.wanted}`, Object.keys(interfaces));
}

export const noInterface = (wanted: string, there: readonly string[]): WeftError =>
  new WeftError('BAD_USAGE', `no interface with an address matches ${wanted}`, {
    hint: `This host has ${there.join(', ')}.`,
  });
