// Packs everything Weft needs to run on a machine of the same architecture that has no Node, no npm and no compiler:
// Node itself, the command, the addon, the kernels and the packages they import, as bundle/weft.tar.xz and a script
// that unpacks and runs it.
//   npm run bundle                 then, over there:  bundle/run.sh info
//   npm run bundle -- --tests      with the tests and vitest:  bundle/run.sh test test/gpu
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesFor } from './bundle-packages.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Bundles travel over slow links and into small quotas. */
export const maxBytes = 60 * 2 ** 20;

/** What a user's own kernel includes. */
const headers = [
  'kernels/weft-shmem.cuh',
  ...['proxy/proxy-request.h', 'gpu/queue.h', 'gpu/queue-device.h'].map((name) => `native/${name}`),
];
const always = [
  ...['bin', 'dist', 'kernels/ptx', ...headers, 'comparisons', 'examples', 'integrations'],
  ...['package.json', 'LICENSE'],
];
const forTests = [
  ...['src', 'test', 'native', 'kernels', 'scripts', 'docs', 'README.md'],
  ...['vitest.config.ts', 'tsconfig.json', 'tsconfig.test.json'],
];

/** Built only where the libraries they stand before are installed. */
const whereBuilt = ['build/peers'];

/** Paths relative to the checkout, without Node. */
export function bundlePaths({ tests }) {
  const packages = packagesFor(root, tests ? ['vitest', 'fast-check', 'execa'] : []);
  const built = whereBuilt.filter((path) => existsSync(join(root, path)));
  return [...always, 'build/Release/weft.node', ...built, ...(tests ? forTests : []), ...packages];
}

const run = (command, args, options = {}) =>
  execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });

function stage(folder, tests) {
  for (const path of bundlePaths({ tests })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    // A package's own node_modules are packages of their own in the list.
    const nested = join(root, path, 'node_modules');
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => source !== nested,
    });
  }
  const node = join(folder, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  // Symbols for debuggers are a tenth of Node; what addons link against stays.
  for (const binary of ['node', 'build/Release/weft.node']) {
    run('strip', ['--strip-unneeded', join(folder, binary)]);
  }
}

export const runner = `#!/bin/sh
# Unpacks the bundle beside this script and runs it: run.sh ARGUMENTS is weft ARGUMENTS.
#   run.sh test [FILES…]        the tests, if they were packed
#   run.sh bench-gpu [OPTIONS]  comparisons/bench-gpu.mjs
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
  bench-gpu) shift; "$folder/node" "$folder/comparisons/bench-gpu.mjs" "$@" ;;
  node) shift; cd "$folder"; "$folder/node" "$@" ;;
  *) "$folder/node" "$folder/bin/weft" "$@" ;;
esac
`;

function main(args) {
  const unknown = args.filter((arg) => arg !== '--tests');
  if (unknown.length > 0) {
    console.error(`unknown option ${unknown.join(' ')}; usage: npm run bundle [-- --tests]`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'weft-bundle-'));
  try {
    stage(folder, args.includes('--tests'));
    const out = join(root, 'bundle');
    mkdirSync(out, { recursive: true });
    const archive = join(out, 'weft.tar.xz');
    const sorted = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
    run('tar', [...sorted, '-I', 'nice xz -T2 -6', '-cf', archive, '-C', folder, '.']);
    writeFileSync(join(out, 'run.sh'), runner);
    chmodSync(join(out, 'run.sh'), 0o755);
    const { size } = statSync(archive);
    console.log(`bundle/weft.tar.xz: ${(size / 2 ** 20).toFixed(1)} MiB`);
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
