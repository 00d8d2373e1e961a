import { isIP } from 'node:net';
import { isWeftError, WeftError } from '../../errors.js';
import { expandHostList, mostHosts } from '../host-list.js';

/** Where a host is attached to the network. */
export interface Attachment {
  readonly leaf: string;
  /** What the leaf is attached to. Pairs of hosts on different leaves cross it. */
  readonly spine: string;
}

/** A host of a network description. */
export interface AttachedHost extends Attachment {
  /** The first is shown; the others are names under which it may run. */
  readonly names: readonly string[];
  readonly line: number;
}

/** What a file says of the network: every host with its leaf and spine. */
export interface Network {
  readonly file: string;
  readonly hosts: readonly AttachedHost[];
}

/** The spine of leaves for which a file names none: they meet somewhere. */
export const unnamedSpine = 'spine';

/** An error at a place of a network description. */
export const badLine = (file: string, line: number, what: string, hint?: string): WeftError =>
  new WeftError('BAD_FILE', `${file}, line ${line}: ${what}`, {
    hint: hint ?? 'See docs/topology.md for the formats of a network description.',
  });

/** A list of hosts, leaves or switches in Slurm's syntax, at a place of a file. */
export function listAt(file: string, line: number, text: string): string[] {
  try {
    return expandHostList(text);
  } catch (error) {
    if (!isWeftError(error)) throw error;
    throw badLine(file, line, error.message, error.hint);
  }
}

/** Refuses a host that is attached twice, and more hosts than a list may have. */
export function networkOf(file: string, all: Iterable<AttachedHost>): Network {
  const hosts: AttachedHost[] = [];
  const seen = new Map<string, number>();
  for (const host of all) {
    const { names, line } = host;
    if (hosts.push(host) > mostHosts) throw badLine(file, line, `more than ${mostHosts} hosts`);
    for (const name of new Set(names)) {
      const before = seen.get(name);
      if (before !== undefined) {
        throw badLine(file, line, `host ${name} is already attached in line ${before}`);
      }
      seen.set(name, line);
    }
  }
  if (hosts.length > 0) return { file, hosts };
  throw new WeftError('BAD_FILE', `${file} names no host`, {
    hint: 'See docs/topology.md for the formats of a network description.',
  });
}

const shortName = (name: string): string => (isIP(name) ? name : name.split('.')[0]!);

const mostNamed = 5;

/** Where each of these hosts is attached; hosts may be named with or without their domain. */
export function attachmentsOf({ file, hosts }: Network, wanted: readonly string[]): Attachment[] {
  const exact = new Map(hosts.flatMap((host) => host.names.map((name) => [name, host] as const)));
  const short = new Map<string, AttachedHost | undefined>();
  for (const [name, host] of exact) {
    const key = shortName(name);
    const other = short.get(key);
    // Two hosts with the same short name: neither is meant by it.
    short.set(key, short.has(key) && other !== host ? undefined : host);
  }
  const found = wanted.map((host) => exact.get(host) ?? short.get(shortName(host)));
  const missing = [...new Set(wanted.filter((_, i) => found[i] === undefined))];
  if (missing.length === 0) return found.map((host) => ({ leaf: host!.leaf, spine: host!.spine }));
  const more = missing.length - mostNamed;
  const names = missing.slice(0, mostNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
  throw new WeftError('BAD_FILE', `${file} does not say where these hosts are attached: ${names}`, {
    hint: 'Add every host of the run to the file, by its host name.',
  });
}
