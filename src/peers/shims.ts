import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';
import { Unavailable } from './peer.js';

type ShimName = 'gloo' | 'openmpi' | 'mpich';

/** Where set-up builds the shims of native/peers/; WEFT_PEERS names another folder. */
const shimFolder = (): string => process.env.WEFT_PEERS || join(packageRoot, 'build/peers');

const shimPath = (name: ShimName): string => join(shimFolder(), `${name}.so`);

export const hasShim = (name: ShimName): boolean => existsSync(shimPath(name));

const packages: Record<ShimName, string> = {
  gloo: 'libgloo-dev',
  openmpi: 'openmpi-bin libopenmpi-dev',
  mpich: 'mpich libmpich-dev',
};

/** What makes a shim: set-up, which installs Debian's and Ubuntu's package where it may. */
export const howToBuild = (name: ShimName): string =>
  `run \`npm run setup bench\` (needs ${packages[name]})`;

/** The path of a shim that is there. */
export function requireShim(name: ShimName, title: string): string {
  if (hasShim(name)) return shimPath(name);
  throw new Unavailable(`${title} is not set up here: ${howToBuild(name)}`);
}
