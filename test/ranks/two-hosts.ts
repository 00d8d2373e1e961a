import { execFileSync } from 'node:child_process';

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

/** Why two hosts cannot be made here; undefined when they can. */
export function whyNoHosts(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  try {
    ip('netns', 'add', `weft-probe-${process.pid}`);
    ip('netns', 'delete', `weft-probe-${process.pid}`);
    return undefined;
  } catch (error) {
    return `no network namespaces here: ${(error as Error).message}`;
  }
}

/** The kernel tells of a carrier a moment after there is one; until then the interface does not count as running. */
function waitForCarrier(space: string): void {
  for (let look = 0; look < 500; look++) {
    if (String(ip('-n', space, '-o', 'link', 'show', 'cable')).includes('state UP')) return;
    execFileSync('sleep', ['0.02']);
  }
  throw new Error(`the cable of ${space} has no carrier`);
}

/**
 * Two hosts on one machine: network namespaces with host names of their own, joined by one cable.
 * `inside` gives the words to put before a command so that it runs on a host.
 */
export class TwoHosts {
  readonly names = ['node1', 'node2'] as const;
  readonly addresses = ['10.99.0.1', '10.99.0.2'] as const;
  readonly addresses6 = ['fd99::1', 'fd99::2'] as const;
  readonly #spaces = [`weft-${process.pid}-1`, `weft-${process.pid}-2`] as const;
  readonly hostsFile: string;

  /** `hostsFile` becomes /etc/hosts on both. */
  constructor(hostsFile: string) {
    this.hostsFile = hostsFile;
    const [one, two] = this.#spaces;
    for (const space of this.#spaces) ip('netns', 'add', space);
    ip('-n', one, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', two);
    for (const [i, space] of this.#spaces.entries()) {
      ip('-n', space, 'address', 'add', `${this.addresses[i]}/24`, 'dev', 'cable');
      ip('-n', space, 'address', 'add', `${this.addresses6[i]}/64`, 'dev', 'cable', 'nodad');
      for (const link of ['cable', 'lo']) ip('-n', space, 'link', 'set', link, 'up');
    }
    for (const space of this.#spaces) waitForCarrier(space);
  }

  inside(host: 0 | 1): string[] {
    const enter = 'hostname "$1"; mount --bind "$2" /etc/hosts; shift 2; exec "$@"';
    const name = this.names[host];
    const space = this.#spaces[host];
    return [
      'ip',
      'netns',
      'exec',
      space,
      'unshare',
      '--uts',
      '--mount',
      'sh',
      '-c',
      enter,
      'sh',
      name,
      this.hostsFile,
    ];
  }

  /** As if the cable were pulled, or the host had lost its power. */
  cut(): void {
    ip('-n', this.#spaces[1], 'link', 'set', 'cable', 'down');
  }

  [Symbol.dispose](): void {
    for (const space of this.#spaces) ip('netns', 'delete', space);
  }
}
