import { isIPv6 } from 'node:net';
import { WeftError } from '../../errors.js';
import type { Environment, Identity } from '../identity.js';
import { addressOf, chooseInterface, type Interfaces } from '../interfaces.js';

export interface Meeting {
  /** Rank 0 takes the first of these that it can bind, on the first of `ports` that is free. */
  readonly listenHosts: readonly string[];
  /** Tried in turn until a handshake succeeds. */
  readonly connectHosts: readonly string[];
  readonly ports: readonly number[];
  readonly listenFd: number | undefined;
}

interface MeetingOptions {
  env: Environment;
  iface?: string;
  interfaces: Interfaces;
}

const everywhere = ['::', '0.0.0.0'];

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);

/** Pure: the addresses follow from who we are, the environment and this host's interfaces. */
export function planMeeting(identity: Identity, options: MeetingOptions): Meeting {
  const { ports, listenFd, masterHost = '127.0.0.1' } = identity;
  if (identity.oneHost) {
    // A run on one host never listens beyond it, whatever name it was given for itself.
    const host = isLoopback(masterHost) ? masterHost : '127.0.0.1';
    const hosts = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
    return { listenHosts: hosts, connectHosts: hosts, ports, listenFd };
  }
  const choice = chooseInterface(options.env, options.iface);
  const onRankZerosHost = identity.hostIndex === 0;
  const bound =
    onRankZerosHost && choice !== undefined
      ? addressOf(choice, options.interfaces, isIPv6(masterHost))
      : undefined;
  if (identity.hostIndex !== undefined && !onRankZerosHost && isLoopback(masterHost)) {
    throw new WeftError(
      'BAD_USAGE',
      `MASTER_ADDR=${masterHost} on host ${identity.hostIndex} of the job points to that host itself`,
      { hint: "Set MASTER_ADDR to the address of rank 0's host on every host." },
    );
  }
  return {
    listenHosts: bound === undefined ? everywhere : [bound],
    // Beside rank 0 its address is known without asking the name service.
    connectHosts: onRankZerosHost ? [bound ?? '127.0.0.1', masterHost] : [masterHost],
    ports,
    listenFd,
  };
}
