// For maintainers, after changing dependencies: node scripts/setup/complete-lock.mjs
//
// npm drops from package-lock.json the builds for other platforms that its registry did not give it (a mirror
// may hold only some), and `npm ci` then refuses the lock everywhere. This adds them again. They carry no
// integrity, which npm allows; the platform, which npm needs in order to skip them, is read from their names.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const systems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = [
  'arm64',
  'arm',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];
const libraries = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl' };

/** What `@scope/name-linux-x64-musl` says about itself, in the form npm locks it. */
export function platformOf(name) {
  const words = name.split('/').at(-1).split('-');
  const named = (list) => list.filter((word) => words.includes(word));
  const libc = words.map((word) => libraries[word]).filter((word) => word !== undefined);
  return {
    cpu: named(processors),
    ...(libc.length > 0 && words.includes('linux') ? { libc } : {}),
    ...(named(systems).length > 0 ? { os: named(systems) } : {}),
  };
}

/** Adds every optional dependency that a locked package pins and the lock lacks; returns their names. */
export function completeLock(lock) {
  const added = [];
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`;
      if (lock.packages[path] !== undefined || !/^\d+\.\d+\.\d+/.test(version)) continue;
      lock.packages[path] = {
        version,
        ...platformOf(name),
        ...(entry.dev ? { dev: true } : {}),
        optional: true,
      };
      added.push(name);
    }
  }
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return added;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file =
    process.argv[2] ?? fileURLToPath(new URL('../../package-lock.json', import.meta.url));
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = completeLock(lock);
  if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(added.length > 0 ? `added ${added.join(', ')}` : 'nothing is missing');
}
