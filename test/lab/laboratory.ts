import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { labOfSpace } from '../../src/lab/names.js';
import { missing } from '../ranks/processes.js';
import { whyNoHosts } from '../ranks/two-hosts.js';

/** Why no lab can be built here; undefined when one can. */
export const whyNoLab = (): string | undefined =>
  missing({ ip: 'iproute2', tc: 'iproute2', nft: 'nftables', unshare: 'util-linux' }) ??
  whyNoHosts();

/** A name that no other test run uses. */
export const labName = (what: string): string => `test-${process.pid}-${what}`;

/** The namespaces of a lab that are there. */
export function spacesOf(lab: string): string[] {
  const folder = '/run/netns';
  return existsSync(folder) ? readdirSync(folder).filter((one) => labOfSpace(one) === lab) : [];
}

export const stateFile = (lab: string): string => `/run/weft-lab/${lab}.json`;

/** Everything a lab could leave behind. */
export const leftOf = (lab: string): string[] => [
  ...spacesOf(lab),
  ...(existsSync(stateFile(lab)) ? [stateFile(lab)] : []),
];

export const inSpace = (tool: 'ip' | 'tc', space: string, ...args: string[]): string =>
  execFileSync(tool, ['-n', space, ...args], { encoding: 'utf8' });

/** Waits for what must come soon. */
export async function until(what: string, holds: () => boolean, withinMs = 10_000): Promise<void> {
  for (const end = performance.now() + withinMs; !holds(); await sleep(30)) {
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs} ms`);
  }
}
