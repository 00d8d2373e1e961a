import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { fstatSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { WeftError } from '../../errors.js';
import { addon, isNativeFault } from '../../native/addon.js';
import type { Identity } from '../identity.js';
import type { Interfaces } from '../interfaces.js';
import { ancestors } from '../process-facts.js';

/** A launcher that does not say where rank 0 is, but passes on what rank 0 says. */
export type NoticeBoard =
  /** MPICH's hydra: PMI-1 over the socket `fd`. */
  | { readonly kind: 'pmi'; readonly fd: number }
  /** Open MPI: PMIx. */
  | { readonly kind: 'pmix' };

/** Where rank 0 listens, as it tells the other ranks. */
export interface Notice {
  readonly jobId: string;
  readonly port: number;
  readonly hosts: readonly string[];
}

/** What PMI-1 carries in a value, at least. */
const mostCharacters = 900;
let turn = 0;

/** Where the launcher only passes on what rank 0 says, rank 0 names the job, and the others learn it and where it is. */
export async function learnJob(
  identity: Identity,
  timeoutMs: number,
): Promise<{ identity: Identity; hosts?: readonly string[] }> {
  const { board, launcher, rank } = identity;
  if (board === undefined) return { identity };
  if (rank === 0) return { identity: { ...identity, jobId: `${launcher}:${randomUUID()}` } };
  const notice = await exchangeNotice(board, undefined, timeoutMs);
  const { jobId, port } = notice;
  return { identity: { ...identity, jobId, ports: [port] }, hosts: reachableHosts(notice) };
}

/** Rank 0 listens: the others may know. */
export async function announce(
  { board, jobId }: Identity,
  { address, port }: AddressInfo,
  timeoutMs: number,
): Promise<void> {
  if (board === undefined) return;
  const everywhere = address === '0.0.0.0' || address === '::';
  const hosts = everywhere ? await ownAddresses() : [address];
  await exchangeNotice(board, { jobId, port, hosts }, timeoutMs);
}

/** Rank 0 gives its notice, the others none; resolves with rank 0's, when every rank has come. */
export async function exchangeNotice(
  board: NoticeBoard,
  notice: Notice | undefined,
  timeoutMs: number,
): Promise<Notice> {
  const key = `weft-rendezvous-${turn++}`;
  const value = notice === undefined ? '' : formatNotice(notice);
  try {
    const text =
      board.kind === 'pmi'
        ? await addon().pmiExchange(board.fd, key, value, timeoutMs).done
        : await withPmix(key, value, timeoutMs);
    return parseNotice(text);
  } catch (cause) {
    if (cause instanceof WeftError) throw cause;
    const said = isNativeFault(cause) ? `${cause.operation}: ${cause.text}` : String(cause);
    throw unknown(board, said, cause);
  }
}

/**
 * Both launchers count a process as failed that ends without a goodbye. MPI, where it runs in this process after us,
 * needs the connection until then; hydra's it closes itself.
 */
export function leavingBoard(board: NoticeBoard): () => void {
  if (board.kind === 'pmix') return () => addon().leavePmix();
  const socket = inodeOf(board.fd);
  return () => {
    // Without an answer hydra is gone, or too busy: the job is over in any case.
    if (inodeOf(board.fd) === socket) addon().leavePmi(board.fd);
  };
}

function inodeOf(fd: number): number | undefined {
  try {
    return fstatSync(fd).ino;
  } catch {
    return undefined;
  }
}

async function withPmix(key: string, value: string, timeoutMs: number): Promise<string> {
  const late = new AbortController();
  const exchange = addon().pmixExchange(pmixPath(), key, value);
  const timeout = sleep(timeoutMs, undefined, { signal: late.signal }).then(() => {
    exchange.unref(); // PMIx waits for the missing ranks without end
    throw new WeftError(
      'TIMEOUT',
      `some ranks of mpirun did not start within ${timeoutMs / 1000} s`,
    );
  });
  try {
    return await Promise.race([exchange.done, timeout]);
  } finally {
    late.abort();
    timeout.catch(() => {});
  }
}

/** The library that mpirun or its daemon on this host has loaded: the two must understand each other. */
function pmixPath(): string {
  for (const { pid } of ancestors()) {
    try {
      const found = /\S*\/libpmix\.so[^\s/]*$/m.exec(readFileSync(`/proc/${pid}/maps`, 'utf8'));
      if (found !== null) return found[0];
    } catch {
      // another user's
    }
  }
  return 'libpmix.so.2';
}

function unknown({ kind }: NoticeBoard, said: string, cause: unknown): WeftError {
  const launcher = kind === 'pmi' ? "MPICH's mpiexec" : "Open MPI's mpirun";
  const how =
    kind === 'pmi'
      ? 'mpiexec -genv MASTER_ADDR … -genv MASTER_PORT …'
      : 'mpirun -x MASTER_ADDR=… -x MASTER_PORT=…';
  return new WeftError(
    'RENDEZVOUS_FAILED',
    `${launcher} runs ranks on several hosts but cannot tell them the address of rank 0 (${said})`,
    { hint: `Pass the address of rank 0's host and a free port on it to all ranks: ${how}`, cause },
  );
}

/** Without blanks: PMI-1 ends a value there. */
function formatNotice({ jobId, port, hosts }: Notice): string {
  const text = (count: number) => [jobId, port, ...hosts.slice(0, count)].join(';');
  let count = hosts.length;
  while (count > 1 && text(count).length > mostCharacters) count--;
  return text(count);
}

function parseNotice(text: string): Notice {
  const [jobId = '', port = '', ...hosts] = text.split(';');
  if (jobId === '' || !/^\d{1,5}$/.test(port) || hosts.length === 0) {
    throw new Error(`"${text}" is not what rank 0 said`);
  }
  return { jobId, port: Number(port), hosts };
}

const addressesOf = (interfaces: Interfaces): string[] =>
  Object.values(interfaces)
    .flatMap((infos) => infos ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .sort((a, b) => a.family.localeCompare(b.family))
    .map(({ address }) => address);

/** This host's addresses, the one of its name first: that is the network which the site uses for such things. */
export async function ownAddresses(): Promise<string[]> {
  const all = addressesOf(networkInterfaces());
  const named = await lookup(hostname(), { all: true }).catch(() => []);
  const first = named.map(({ address }) => address).filter((address) => all.includes(address));
  return [...new Set([...first, ...all])];
}

/**
 * The addresses at which to look for rank 0. One that this host has as well, as bridges of containers do, leads to
 * this host; all of them are its own only where rank 0 is here.
 */
export function reachableHosts(
  { hosts }: Pick<Notice, 'hosts'>,
  interfaces: Interfaces = networkInterfaces(),
): readonly string[] {
  const own = new Set(addressesOf(interfaces));
  const others = hosts.filter((host) => !own.has(host));
  return others.length === 0 ? hosts : others;
}
