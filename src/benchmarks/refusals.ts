import { WeftError } from '../errors.js';
import type { Settings } from '../settings/table.js';

/** `what`: what `minBytes` is the size of. */
export function refuseEmpty({ minBytes }: Settings, what: string): void {
  if (minBytes > 0) return;
  throw new WeftError('BAD_USAGE', `${what} needs at least 1 byte`, {
    hint: 'Use a larger `minBytes`.',
  });
}

/** The executor's own limit. */
const dayMs = 24 * 3600 * 1000;

/** Whoever waits for what starts late would give up. `what` is the last to start in an iteration. */
export function refuseLate(
  { timeoutMs }: Settings,
  what: string,
  nanoseconds: number,
  instead: string,
): void {
  const lastMs = nanoseconds / 1e6;
  if (lastMs < Math.min(timeoutMs, dayMs)) return;
  const [limit, more] =
    lastMs < timeoutMs ? ['a day', ''] : ['`timeoutMs`', ' or a longer `timeoutMs`'];
  throw new WeftError(
    'BAD_USAGE',
    `${what} would start after ${Math.round(lastMs / 1000)} s, later than ${limit}`,
    { hint: `Use ${instead}${more}.` },
  );
}
