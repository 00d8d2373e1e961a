// Puts the addon and the emulated EFA device into prebuilds/, where the npm package carries them, if they load on
// every system that the package promises: glibc 2.34 or later, and no libstdc++ of the system's.
//   npm run prebuilds
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { efaLibraries } from './setup/efa-build.mjs';
import { addon } from './setup/native-build.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const newestGlibc = [2, 34];

/** What a library needs of others, such as `GLIBC_2.34` or `GCC_3.0`. */
export function neededVersions(file) {
  const text = execFileSync('readelf', ['--version-info', '--wide', file], { encoding: 'utf8' });
  // What the library defines itself stands before.
  const needs = text.slice(text.indexOf('Version needs section'));
  return [...new Set([...needs.matchAll(/Name: (\w+_[\d.]+)/g)].map(([, name]) => name))].sort();
}

/** Those of them that an older system may lack. */
export function unmet(versions) {
  return versions.filter((name) => {
    const [, library, text] = /^(\w+)_([\d.]+)$/.exec(name);
    if (library === 'GCC') return false;
    if (library !== 'GLIBC') return true;
    const [major, minor] = text.split('.').map(Number);
    return major > newestGlibc[0] || (major === newestGlibc[0] && minor > newestGlibc[1]);
  });
}

function pack(file, target) {
  if (!existsSync(join(root, file))) {
    console.error(`${file} is not built: install libibverbs-dev and run npm run build`);
    process.exit(1);
  }
  const lacking = unmet(neededVersions(join(root, file)));
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
