import { setTimeout as sleep } from 'node:timers/promises';
import { WeftError } from '../../errors.js';
import type { Pulse } from '../../session/path/pulse.js';
import type { World } from '../../world/world.js';

/** Ranks that know nothing of the cause let those speak first whose link is down. */
const precedenceMs = 300;

/** What a rank says when it gives up: with the link of its host that is down, if one is. */
export async function withLinks(error: unknown, world: World, pulse: Pulse): Promise<unknown> {
  if (!(error instanceof WeftError) || world.signal.aborted) return error;
  const [down] = pulse.down(performance.now());
  if (down === undefined) {
    await sleep(precedenceMs);
    return world.signal.aborted ? world.signal.reason : error;
  }
  const why = `the link of ${down.nic} on ${world.hosts[world.rank]} has been down for ${(-down.atMs / 1000).toFixed(1)} s`;
  return new WeftError(error.code, `${error.message}; ${why}`, {
    ...(error.hint !== undefined && { hint: error.hint }),
    cause: error,
  });
}
