import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { type OpenWorldOptions, openWorld, type World } from '../../src/world/index.js';

/** A port that was free a moment ago. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Place {
  port: number;
  size: number;
  host?: string;
  token?: string;
  env?: Record<string, string>;
}

/** A rank as torchrun's convention describes it. */
export const rankEnv = (rank: number, { port, size, host = '127.0.0.1', token, env }: Place) => ({
  RANK: `${rank}`,
  WORLD_SIZE: `${size}`,
  LOCAL_RANK: `${rank}`,
  LOCAL_WORLD_SIZE: `${size}`,
  MASTER_ADDR: host,
  MASTER_PORT: `${port}`,
  ...(token === undefined ? {} : { WEFT_TOKEN: token }),
  ...env,
});

export const joinRank = (
  rank: number,
  place: Place,
  options: OpenWorldOptions = {},
): Promise<World> => openWorld({ timeoutMs: 10_000, ...options, env: rankEnv(rank, place) });

/** All ranks of a world inside this process. */
export async function openRanks(size: number, options: OpenWorldOptions & Partial<Place> = {}) {
  const { port = await freePort(options.host), host, token, env: extra, ...rest } = options;
  const place = {
    port,
    size,
    ...(host && { host }),
    ...(token && { token }),
    ...(extra && { env: extra as Record<string, string> }),
  };
  const worlds = await Promise.all(
    Array.from({ length: size }, (_, rank) => joinRank(rank, place, rest)),
  );
  return {
    place,
    worlds,
    async [Symbol.asyncDispose]() {
      await Promise.all(worlds.map((world) => world.close()));
    },
  };
}

/** Resolves with the reason when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<Error> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
