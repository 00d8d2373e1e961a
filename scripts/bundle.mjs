// Packs everything Weft needs to run on a machine of the same architecture that has no Node, no npm, no compiler and no
// network: Node itself, the command, the addon, the kernels, and libfabric for machines that have none.
//   npm run bundle                 bundle/weft-VERSION-linux-x64.run, one file that unpacks itself
//   npm run bundle -- --tests      with the tests and vitest:  bundle/run.sh test test/gpu
//   weft bundle --out FOLDER       the same from an installed package
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeBundleFile } from './bundle-file.mjs';
import { packLibfabric } from './bundle-libraries.mjs';
import { packagesFor } from './bundle-packages.mjs';
import { ofSystem, readNeeds, unmet } from './elf.mjs';
import { entries } from './setup/entries.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Bundles travel over slow links and into small quotas. */
export const maxBytes = 60 * 2 ** 20;

/** What a user's own kernel includes. */
const headers = [
  'kernels/weft-shmem.cuh',
  ...['proxy/proxy-request.h', 'gpu/queue.h', 'gpu/queue-device.h'].map((name) => `native/${name}`),
];
const always = [
  ...['bin', 'kernels/ptx', ...headers, 'examples', 'integrations'],
  ...['package.json', 'LICENSE'],
];
/** Of dist, what the package has too: the program, with its modules and packages in it, and its pages. */
const program = [
  ...entries.map((name) => `${name}.js`),
  ...['chunks', 'report/page', 'live/page', 'THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'],
].map((name) => `dist/${name}`);
const ownScripts = [
  ...['bundle', 'bundle-file', 'bundle-libraries', 'bundle-packages', 'elf'],
  'setup/entries',
];
/** Not all are in a checkout, in an installed package and in a bundle: what is not there is not needed. */
const whereFound = [
  ...['build/peers', 'docs', 'lib'],
  ...ownScripts.map((name) => `scripts/${name}.mjs`),
];
const forTests = [
  ...['dist', 'comparisons'],
  ...['src', 'test', 'native', 'kernels', 'scripts', 'docs', 'README.md'],
  ...['vitest.config.ts', 'tsconfig.json', 'tsconfig.test.json'],
];
/** Built here, or brought by the package. */
const built = ['build/Release/weft.node', 'build/efa'];
const prebuilt = [`prebuilds/${process.platform}-${process.arch}`];

/** Files and folders, and their places in a bundle; without Node and libfabric. */
export function bundlePaths({ tests }) {
  const packages = tests ? packagesFor(root, ['vitest', 'fast-check', 'execa']) : [];
  const exists = (path) => existsSync(join(root, path));
  const native = exists(built[0]) ? built.filter(exists) : prebuilt;
  const found = whereFound.filter(exists);
  const own = [...new Set([...always, ...native, ...found, ...(tests ? forTests : program)])];
  return [...own.map((path) => ({ from: join(root, path), to: path })), ...packages];
}

const run = (command, args, options = {}) =>
  execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });

function stage(folder, tests) {
  for (const { from, to } of bundlePaths({ tests })) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    // A package's own node_modules are packages of their own in the list; pages of the API are large.
    const skipped = [join(from, 'node_modules'), join(root, 'docs/api')];
    cpSync(from, join(folder, to), {
      recursive: true,
      dereference: true,
      filter: (source) => !skipped.includes(source),
    });
  }
  const node = join(folder, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  strip([node, join(folder, built[0])]);
}

/** Symbols for debuggers are a tenth of Node; what addons link against stays. */
function strip(files) {
  const present = files.filter((file) => existsSync(file));
  try {
    run('strip', ['--strip-unneeded', ...present], { stdio: 'ignore' });
  } catch {
    // no binutils here: the bundle is larger
  }
}

/** Node, and what stands before libraries of the system that are in C++, may use the system's libstdc++. */
const mayNeedCxx = /^(node|build\/peers\/[^/]+\.so)$/;

/** What files of a bundle need that systems may lack to which it is promised, as `file: GLIBC_2.36`. */
export function lackingIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .flatMap((path) => {
      const { versions = [], libraries = [] } = readNeeds(join(folder, path)) ?? {};
      const cxx = mayNeedCxx.test(path);
      const packed = (name) => existsSync(join(folder, dirname(path), name));
      const absent = libraries.filter((name) => !cxx && !ofSystem.test(name) && !packed(name));
      return [...unmet(versions, { cxx }), ...absent].map((name) => `${path}: ${name}`);
    });
}

export const runner = `#!/bin/sh
# Unpacks the bundle beside this script and runs it: run.sh ARGUMENTS is weft ARGUMENTS.
#   run.sh test [FILES…]        the tests, if they were packed
#   run.sh bench-gpu [OPTIONS]  comparisons/bench-gpu.mjs; bench-tokens likewise
#   run.sh node ARGUMENTS…      the Node inside, in the unpacked folder
# It unpacks once into WEFT_BUNDLE_DIR if that is set, else into a temporary folder.
set -eu
archive=$(cd "$(dirname "$0")" && pwd)/weft.tar.xz
if [ -n "\${WEFT_BUNDLE_DIR:-}" ]; then
  folder=$WEFT_BUNDLE_DIR
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
fi
if [ ! -e "$folder/.unpacked" ]; then
  mkdir -p "$folder"
  tar -xJf "$archive" -C "$folder" || { echo "could not unpack the bundle into $folder; check that tar and xz are installed" >&2; exit 1; }
  : > "$folder/.unpacked"
fi
mkdir -p "$folder/path"
ln -sf ../node "$folder/path/node"
PATH="$folder/path:$PATH"
export PATH
case "\${1:-}" in
  test) shift; cd "$folder"; "$folder/node" node_modules/vitest/vitest.mjs run "\${@:-test/gpu}" ;;
  bench-gpu|bench-tokens) bench=$1; shift; "$folder/node" "$folder/comparisons/$bench.mjs" "$@" ;;
  node) shift; cd "$folder"; "$folder/node" "$@" ;;
  *) "$folder/node" "$folder/bin/weft" "$@" ;;
esac
`;

/** For GPU machines without an installation: an archive, and a script that also runs the tests. */
function packTests(folder, out) {
  const archive = join(out, 'weft.tar.xz');
  const sorted = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
  run('tar', [...sorted, '-I', 'nice xz -T2 -6', '-cf', archive, '-C', folder, '.']);
  writeFileSync(join(out, 'run.sh'), runner, { mode: 0o755 });
  return archive;
}

function packFile(folder, out) {
  const libraries = join(folder, 'lib');
  // A bundle made from a bundle has them already.
  const whyNot = existsSync(libraries) ? undefined : packLibfabric(libraries);
  if (whyNot)
    console.error(
      `The bundle has no libfabric: ${whyNot}. Install libfabric where the bundle runs.`,
    );
  const lacking = lackingIn(folder);
  if (lacking.length > 0) {
    console.error(
      `These files need a newer system than a bundle may require:\n${lacking.join('\n')}`,
    );
    return undefined;
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const file = join(out, `weft-${version}-linux-x64.run`);
  const sum = writeBundleFile(file, { folder, version });
  console.log(`sha256 ${sum}`);
  return file;
}

function readArguments(args) {
  try {
    const options = { tests: { type: 'boolean' }, out: { type: 'string' } };
    return parseArgs({ args, options }).values;
  } catch (error) {
    console.error(`${error.message}; usage: npm run bundle [-- --tests] [-- --out FOLDER]`);
    return undefined;
  }
}

function main(args) {
  const asked = readArguments(args);
  if (asked === undefined) return 2;
  const { tests = false, out = join(root, 'bundle') } = asked;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error(
      `Bundles can only be packed on Linux on x86-64, not on ${process.platform} on ${process.arch}.`,
    );
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'weft-bundle-'));
  try {
    stage(folder, tests);
    mkdirSync(out, { recursive: true });
    const file = tests ? packTests(folder, out) : packFile(folder, out);
    if (file === undefined) return 1;
    const { size } = statSync(file);
    console.log(`${file}: ${(size / 2 ** 20).toFixed(1)} MiB`);
    if (size <= maxBytes) return 0;
    console.error(`the bundle is larger than ${maxBytes / 2 ** 20} MiB`);
    return 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.slice(2));
}
