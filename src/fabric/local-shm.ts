import { WeftError } from '../errors.js';
import type { Library } from './library.js';

/** EFA hands ranks of one host to shared memory unless it is told not to: that measures no NIC. */
const variable = 'FI_EFA_ENABLE_SHM_TRANSFER';
/** Means the same as 0, which a user would write: so a value of ours is known where a child inherits it. */
const ours = 'off';

/** Before libfabric loads, since libfabric before 1.21 has no other way. What the user set stays. */
export function forbidLocalShm(env: NodeJS.ProcessEnv = process.env): void {
  env[variable] ??= ours;
}

/** Takes that back, for whoever wants shared memory between the ranks of a host. */
export function allowLocalShm(loaded: Library | undefined, env = process.env): void {
  if (env[variable] !== ours) return;
  if (loaded === undefined) delete env[variable];
  else {
    throw new WeftError('BAD_USAGE', 'shared memory for efa was turned off when libfabric loaded', {
      hint: `Set ${variable}=1 before the program starts.`,
    });
  }
}

/** How local ranks of an EFA fabric reach each other. Undefined for providers that never take this shortcut. */
export interface LocalShm {
  readonly allowed: boolean;
  /** Who decided. */
  readonly by: string;
}

const off = /^(0|off|no|false)$/i;

export function localShmOf(
  provider: string,
  { major, minor }: Pick<Library, 'major' | 'minor'>,
  wanted: boolean,
  env: NodeJS.ProcessEnv = process.env,
): LocalShm | undefined {
  if (provider.split(';')[0] !== 'efa') return undefined;
  const value = env[variable];
  if (value === ours) return { allowed: false, by: `Weft set ${variable}` };
  if (value !== undefined && off.test(value)) return { allowed: false, by: variable };
  const perEndpoint = major > 1 || minor >= 21;
  if (perEndpoint) return { allowed: wanted, by: 'FI_OPT_SHARED_MEMORY_PERMITTED' };
  return { allowed: true, by: value === undefined ? 'default of libfabric' : variable };
}
