import { existsSync } from 'node:fs';
import { WeftError } from '../errors.js';
import { addon } from '../native/addon.js';
import { libfabricHint } from './libfabric-package.js';
import { allowLocalShm, forbidLocalShm } from './local-shm.js';

export interface Library {
  readonly path: string;
  readonly major: number;
  readonly minor: number;
  /** As people write it: 1.17 */
  readonly version: string;
}

const oldest = { major: 1, minor: 17 };
const efaInstaller = ['/opt/amazon/efa/lib64/libfabric.so.1', '/opt/amazon/efa/lib/libfabric.so.1'];

let library: Library | undefined;

/** Where libfabric is looked for: WEFT_LIBFABRIC alone if set, else the EFA installer's place, else the system's. */
export function libraryCandidates(env: NodeJS.ProcessEnv = process.env): string[] {
  if (env.WEFT_LIBFABRIC) return [env.WEFT_LIBFABRIC];
  return [...efaInstaller.filter((path) => existsSync(path)), 'libfabric.so.1'];
}

/** Opens libfabric once for this process. Without `localShm`, efa may not use shared memory between local ranks. */
export function loadLibrary({ localShm = false } = {}): Library {
  if (localShm) allowLocalShm(library);
  if (library) return library;
  if (!localShm) forbidLocalShm();
  let cause: unknown;
  for (const path of libraryCandidates()) {
    try {
      const opened = addon().openLibrary(path);
      const found = { ...opened, version: `${opened.major}.${opened.minor}` };
      refuseOld(found);
      library = found;
      return found;
    } catch (error) {
      if (error instanceof WeftError) throw error;
      cause ??= error;
    }
  }
  const asked = process.env.WEFT_LIBFABRIC;
  throw new WeftError(
    'LIBFABRIC_NOT_FOUND',
    `libfabric could not be loaded${asked ? ` from WEFT_LIBFABRIC=${asked}` : ''}`,
    {
      hint: asked
        ? 'Point WEFT_LIBFABRIC at a libfabric.so.1, or unset it to use the system’s.'
        : libfabricHint(),
      cause,
    },
  );
}

export function refuseOld(found: Library): void {
  const { major, minor } = found;
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return;
  throw new WeftError(
    'LIBFABRIC_TOO_OLD',
    `${found.path} is libfabric ${found.version}; Weft needs ${oldest.major}.${oldest.minor} or newer`,
    { hint: 'Upgrade it, or set WEFT_LIBFABRIC to a newer libfabric.so.1.' },
  );
}
