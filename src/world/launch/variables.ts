import { randomUUID } from 'node:crypto';
import type { AddressInfo, Server } from 'node:net';
import { randomToken } from '../rendezvous/token.js';
import { reportFd } from './rank-process.js';
import type { SpawnOptions } from './spawn.js';

/** What every rank finds in its environment. Ranks of a larger job already have what that job gave this host. */
export function jobVariables(
  { ranks, hosts, firstRank }: SpawnOptions,
  server: Server | undefined,
): Record<string, string> {
  const tied = { WEFT_PARENT: String(process.pid), WEFT_REPORT_FD: String(reportFd) };
  if (firstRank !== undefined) return tied;
  return {
    ...tied,
    WEFT_SIZE: String(ranks),
    WEFT_MASTER: server ? masterOf(server) : `${hosts?.master.host}:${hosts?.master.port}`,
    WEFT_JOB: randomUUID(),
    WEFT_TOKEN: randomToken(),
  };
}

/** What one rank finds of its own; `local` counts the ranks that this process starts. */
export function placeVariables(
  local: number,
  { ranks, hosts, firstRank }: SpawnOptions,
): NodeJS.ProcessEnv {
  if (firstRank !== undefined) {
    return { WEFT_LOCAL_RANK: String(local), WEFT_LOCAL_SIZE: String(ranks) };
  }
  return {
    WEFT_RANK: String(local),
    WEFT_LOCAL_RANK: hosts && String(local % hosts.ranksPerHost),
    WEFT_LOCAL_SIZE: hosts && String(hosts.ranksPerHost),
  };
}

function masterOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
