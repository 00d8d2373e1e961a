// Puts the addon and the emulated EFA device into prebuilds/, where the npm package carries them, if they load on
// every system that the package promises: glibc 2.34 or later, and no libstdc++ of the system's.
//   npm run prebuilds
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readNeeds, unmet } from './elf.mjs';
import { efaLibraries } from './setup/efa-build.mjs';
import { addon } from './setup/native-build.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
function pack(file, target) {
  if (!existsSync(join(root, file))) {
    console.error(`${file} is not built: install libibverbs-dev and run npm run build`);
    process.exit(1);
  }
  const lacking = unmet(readNeeds(join(root, file)).versions);
  if (lacking.length > 0) {
    console.error(`${file} needs ${lacking.join(', ')}: build the package on Debian 12`);
    process.exit(1);
  }
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(join(root, file), target);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'prebuilds', `${process.platform}-${process.arch}`);
  pack(addon, join(folder, 'weft.node'));
  for (const library of efaLibraries) pack(library, join(folder, 'efa', basename(library)));
}
