import { networkInterfaces } from 'node:os';
import type { Environment } from '../world/identity.js';
import { chooseInterface, matchInterfaces, noInterface } from '../world/interfaces.js';

/**
 * The interfaces that `--iface`, GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME name, in their order; none where nothing was
 * said. A list that only excludes (`^docker0`) names none: then the hosts' common networks decide, and NCCL reads it
 * by itself.
 */
export function namedInterfaces(
  env: Environment,
  iface: string | undefined,
  there: readonly string[] = Object.keys(networkInterfaces()),
): string[] {
  const choice = chooseInterface(env, iface);
  if (choice === undefined || choice.wanted.startsWith('^')) return [];
  const found = [...new Set(matchInterfaces(choice, there))];
  const exact = choice.from !== 'NCCL_SOCKET_IFNAME';
  const absent = exact
    ? choice.wanted
        .split(',')
        .map((name) => name.trim())
        .filter((name) => !there.includes(name))
    : [];
  if (found.length > 0 && absent.length === 0) return found;
  const missing = absent.length > 0 ? absent.join(', ') : choice.wanted;
  throw noInterface(`${choice.from}: ${missing}`, there);
}
