import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { WeftError } from '../errors.js';
import { packageRoot } from '../package-root.js';

const own = join(packageRoot, 'build/Release/weft.node');
const prebuilt = join(packageRoot, `prebuilds/${process.platform}-${process.arch}/weft.node`);
const setup = join(packageRoot, 'scripts/setup.mjs');

/**
 * The addon: one built on this machine, else the one the package brings, else, once, a build from source. Several
 * processes that come here together build it one after the other, and only the first has anything to do.
 */
export function loadAddon(): unknown {
  const faults: unknown[] = [];
  const found = tryLoad([own, prebuilt], faults);
  if (found !== undefined) return found;
  const hint = buildFromSource();
  const built = hint === undefined ? tryLoad([own], faults) : undefined;
  if (built !== undefined) return built;
  throw new WeftError('ADDON_MISSING', 'the native addon could not be loaded', {
    hint: hint ?? 'It was built but does not load. Delete build/ in the package and try again.',
    cause: faults.at(-1),
  });
}

function tryLoad(paths: readonly string[], faults: unknown[]): unknown {
  for (const path of paths) {
    try {
      return createRequire(import.meta.url)(path);
    } catch (fault) {
      faults.push(fault);
    }
  }
  return undefined;
}

/** Undefined when it was built, else what to do. */
function buildFromSource(): string | undefined {
  const kind = `${process.platform}-${process.arch}`;
  if (!existsSync(setup)) {
    return `The addon's source is not here, so Weft cannot build it. Create the bundle on a machine like this one (${kind}).`;
  }
  process.stderr.write(
    `weft: no prebuilt addon loads on this machine (${kind}); building it from source once\n`,
  );
  const { status, stderr } = spawnSync(process.execPath, [setup, 'native'], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}
