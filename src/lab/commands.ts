import { spawnSync } from 'node:child_process';
import { WeftError } from '../errors.js';

const packages: Record<string, string> = { ip: 'iproute2', tc: 'iproute2', nft: 'nftables' };
/** A service or a cron job may have neither on its PATH. */
const sbin = '/usr/local/sbin:/usr/sbin:/sbin';

/**
 * Runs one of the kernel's tools and returns what it printed. In a session of its own: Ctrl-C at a terminal reaches
 * us, who clean up, and not the tool that does so.
 */
export function tool(command: string, args: readonly string[], input = ''): string {
  const options = {
    input,
    encoding: 'utf8',
    detached: true, // heeded, though the types do not know it
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:${sbin}`, LC_ALL: 'C' },
  } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    const name = packages[command];
    throw new WeftError('UNSUPPORTED', `the lab needs ${command}, which is not installed`, {
      ...(name !== undefined && { hint: `Install it (Debian: apt-get install ${name}).` }),
    });
  }
  if (error === undefined && status === 0) return stdout;
  const said = stderr?.trim().split('\n')[0] || error?.message || `exit code ${status}`;
  const denied = /Operation not permitted|Permission denied/.test(said);
  throw new WeftError('UNSUPPORTED', `${command} ${args.join(' ')}: ${said}`, {
    ...(denied && { hint: 'The lab needs root with CAP_NET_ADMIN and CAP_SYS_ADMIN.' }),
    cause: error ?? (input === '' ? undefined : new Error(`input:\n${input}`)),
  });
}

/** Lines for ip, inside a namespace. */
export const ipIn = (space: string, lines: readonly string[]): string =>
  tool('ip', ['-n', space, '-batch', '-'], `${lines.join('\n')}\n`);

/** Lines for tc, inside a namespace. */
export const tcIn = (space: string, lines: readonly string[]): string =>
  tool('tc', ['-n', space, '-batch', '-'], `${lines.join('\n')}\n`);

/** A ruleset for nft, inside a namespace. */
export const nftIn = (space: string, rules: string): string =>
  tool('ip', ['netns', 'exec', space, 'nft', '-f', '-'], rules);

export function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new WeftError('UNSUPPORTED', 'the lab needs root to create network namespaces', {
    hint: 'Run it with sudo. Benchmarks between local ranks need no root.',
  });
}
