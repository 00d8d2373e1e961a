import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WeftError } from '../../errors.js';
import { type DoorName, introduce, Refusal, type Secret } from './auth.js';
import { Connection } from './connection.js';
import { AbsentRanks } from './messages.js';
import { PatientDeadline } from './patient-deadline.js';

export interface ReachOptions {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
  readonly secret: Secret;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const connectMs = 3000;
const longestHelloMs = 10_000;

/**
 * Finds rank 0 of our job: tries every address until a handshake succeeds or time is up. Rank 0 may not
 * be there yet, and a port may belong to someone else; a wrong token is final, and so is another job where
 * only one port is possible.
 */
export async function reach(options: ReachOptions): Promise<Connection> {
  const { hosts, ports, secret, timeoutMs, signal } = options;
  using deadline = new PatientDeadline(timeoutMs);
  const seen = new Map<string, Error>();
  // A port with someone silent behind it must not hold up the search; a loaded rank 0 needs patience.
  let helloMs = ports.length > 1 ? 500 : longestHelloMs;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.5, 400)) {
    for (const port of ports) {
      for (const host of hosts) {
        signal?.throwIfAborted();
        const left = deadline.leftMs;
        if (left <= 0) throw unreachable(options, seen);
        try {
          const within = Math.min(left, helloMs);
          const limits = { connectMs: Math.min(left, connectMs), helloMs: within };
          return await knock({ host, port, door: 'rank 0' }, secret, limits);
        } catch (error) {
          if (isFinal(error, ports.length))
            throw unreachable(options, new Map([[`${host}:${port}`, error]]));
          seen.set(`${host}:${port}`, error as Error);
        }
      }
    }
    helloMs = Math.min(helloMs * 2, longestHelloMs);
    await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly door: DoorName;
}

/** One attempt to be let in at a door. The caller owns the connection. */
export async function knock(
  { host, port, door }: Address,
  secret: Secret,
  limits: { readonly connectMs: number; readonly helloMs: number },
): Promise<Connection> {
  const connection = new Connection(await connected(host, port, limits.connectMs));
  try {
    await introduce(connection, secret, limits.helloMs, door);
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function connected(host: string, port: number, withinMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let found = isIP(host) !== 0;
    socket.once('lookup', (error) => {
      found = error === null;
    });
    const timer = setTimeout(() => {
      socket.destroy(found ? new Error('no answer') : new Unresolved('no answer'));
    }, withinMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.syscall === 'getaddrinfo' ? new Unresolved(error.code) : error);
    });
  });
}

/** The name of rank 0's host is not known, or not yet: a pod's name appears seconds after the pod. */
class Unresolved extends Error {
  constructor(why = '') {
    super(`the name does not resolve: ${why}`);
  }
}

const isFinal = (error: unknown, ports: number): error is Refusal =>
  error instanceof Refusal &&
  (error.reason === 'token' ||
    error.reason === 'version' ||
    (error.reason === 'job' && ports === 1));

const hints: Record<string, string> = {
  job: 'Two jobs share a port on this host: give one of them another MASTER_PORT.',
  token: 'All ranks need the same WEFT_TOKEN or token file.',
  version: 'Run the same version of Weft on every host.',
};

const unresolvedHint =
  'It must name rank 0’s host. On Kubernetes, check that pod 0 has started and that the headless Service selects it.';

function unreachable({ timeoutMs, hosts }: ReachOptions, seen: Map<string, Error>): WeftError {
  const [first] = seen.values();
  const reason = first instanceof Refusal && first.reason !== 'stranger' ? first.reason : undefined;
  if (reason !== undefined && seen.size === 1) {
    const [where] = seen.keys();
    const message = `the rendezvous at ${where} refused this rank: ${first?.message}`;
    return new WeftError('RENDEZVOUS_FAILED', message, { hint: hints[reason], cause: first });
  }
  const cause = new AbsentRanks([0], first);
  const within = `within ${(timeoutMs / 1000).toFixed(1)} s`;
  // Only where nothing else was tried is the name to blame: beside rank 0, its name is tried last.
  if (seen.size > 0 && [...seen.values()].every((error) => error instanceof Unresolved)) {
    const message = `the name ${hosts.join(' or ')} did not resolve ${within}`;
    return new WeftError('RENDEZVOUS_FAILED', message, { hint: unresolvedHint, cause });
  }
  const list = [...seen].slice(0, 6).map(([where, error]) => `${where}: ${error.message}`);
  const more = seen.size > list.length ? `; and ${seen.size - list.length} more` : '';
  return new WeftError(
    'RENDEZVOUS_FAILED',
    `rank 0 cannot be reached: no connection ${within} (${list.join('; ')}${more})`,
    {
      hint: `Check that rank 0 is running, that ${hosts.join(' or ')} is its host, and that the port is open between the hosts.`,
      cause,
    },
  );
}
