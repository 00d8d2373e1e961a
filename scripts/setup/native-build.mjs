// Builds the addon with g++ alone: Node-API needs headers, which two npm packages bring, and nothing else of Node. One
// build serves every Node from 20 on. libstdc++ is linked in, so that it also serves systems with an older one.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { lastLines, runCommand } from './command.mjs';
import { SetupFailure } from './failure.mjs';
import { compileAll } from './native-objects.mjs';
import { hashOf, readStamp, removeStamp, sameInputs, writeStamp } from './stamp.mjs';

export const addon = 'build/Release/weft.node';
const compiler = 'g++';
const headerPackages = ['node-addon-api', 'node-api-headers'];
/** Libraries of their own, with one C interface: peers-build.mjs. */
const shims = ['native/peers/gloo.cc', 'native/peers/mpi.cc'];

// Products and sums are rounded one by one on every processor, so that sums of plans are the same everywhere.
const compileFlags = [
  ...[
    '-std=c++20',
    '-O3',
    '-flto',
    '-fPIC',
    '-pthread',
    '-fomit-frame-pointer',
    '-ffp-contract=off',
  ],
  ...['-fvisibility=hidden', '-fno-gnu-unique', '-Wall', '-Wextra', '-Wno-unused-parameter'],
  ...['-DNAPI_VERSION=8', '-DNAPI_CPP_EXCEPTIONS', '-DNODE_ADDON_API_DISABLE_DEPRECATED'],
  // What cannot be thrown because a worker is being terminated must not end the process.
  '-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
];
// libgcc_s stays shared: its unwinder, linked in, would need glibc 2.35, and Node itself needs libgcc_s. Unused parts
// of libstdc++ are dropped: std::random_device alone would need glibc 2.36.
const linkFlags = [
  ...['-shared', '-pthread', '-O3', '-flto=auto', '-s', '-ldl', '-Wl,--as-needed'],
  ...['-static-libstdc++', '-shared-libgcc', '-Wl,--gc-sections'],
  // A worker that ends would else unload the addon below threads that still run in it.
  ...['-Wl,--version-script,native/exports.map', '-Wl,-z,nodelete'],
];

export const nativeBuild = {
  pending({ root }) {
    const done =
      existsSync(join(root, addon)) && sameInputs(readStamp(root, 'native'), inputs(root));
    return done ? undefined : 'native build';
  },
  async perform({ root, verbose }) {
    const built = inputs(root);
    if (built.tools.compiler === undefined) throw missing('g++');
    removeStamp(root, 'native');
    const flags = [...compileFlags, ...headerFolders(root).flatMap((path) => ['-isystem', path])];
    const compile = (source, object, more) =>
      run(root, [...flags, ...more, '-c', source, '-o', object], verbose);
    const objects = await compileAll({
      ...{ root, stamp: 'native-objects', tools: built.tools },
      ...{ sources: sources(root), compile },
    });
    await link(root, objects, verbose);
    writeStamp(root, 'native', built);
    return 'native build';
  },
};

/** Of the addon, from the root. */
export function sources(root) {
  return readdirSync(join(root, 'native'), { recursive: true })
    .filter((path) => path.endsWith('.cc'))
    .map((path) => `native/${path}`)
    .filter((path) => !shims.includes(path))
    .sort();
}

/** Objects may be kept while `tools` stays the same. */
function inputs(root) {
  const version = spawnSync(compiler, ['-dumpfullversion', '-dumpmachine'], { encoding: 'utf8' });
  const tools = {
    compiler: version.stdout?.trim().replaceAll('\n', ' ') || undefined,
    scripts: hashOf(root, ['scripts/setup/native-build.mjs', 'scripts/setup/native-objects.mjs']),
    headers: headerPackages.map((name) => versionOf(root, name)),
  };
  return { tools, sources: hashOf(root, ['native']) };
}

/** As Node finds packages from the root: beside it when it is itself installed as one. */
const manifestOf = (root, name) =>
  createRequire(join(root, 'package.json')).resolve(`${name}/package.json`);

function versionOf(root, name) {
  try {
    return createRequire(import.meta.url)(manifestOf(root, name)).version;
  } catch {
    return undefined;
  }
}

export function headerFolders(root) {
  return headerPackages.map((name) => {
    try {
      const folder = dirname(manifestOf(root, name));
      return existsSync(join(folder, 'include')) ? join(folder, 'include') : folder;
    } catch {
      throw new SetupFailure(`native build: the npm package ${name} is not installed`, {
        hint: 'Install the npm packages first: npm run setup in a checkout, npm install elsewhere.',
      });
    }
  });
}

/** Into a name of its own and then into place, so that nobody opens half an addon. */
async function link(root, objects, verbose) {
  const fresh = `${addon}.${process.pid}`;
  mkdirSync(join(root, dirname(addon)), { recursive: true });
  try {
    await run(root, [...objects, ...linkFlags, '-o', fresh], verbose);
    renameSync(join(root, fresh), join(root, addon));
  } finally {
    rmSync(join(root, fresh), { force: true });
  }
}

const missing = (what) =>
  new SetupFailure(`native build: ${what} could not be found`, {
    hint: [
      'A build from source needs g++ 11 or later and the headers of libfabric:',
      '  Debian, Ubuntu  apt-get install g++ libfabric-dev',
      '  Fedora, RHEL    dnf install gcc-c++ libfabric-devel',
    ].join('\n'),
  });

async function run(root, args, verbose) {
  const { code, output } = await runCommand(compiler, args, { cwd: root, show: verbose });
  if (code === 0) return;
  if (/rdma\/[\w.]+: No such file/.test(output)) throw missing('the headers of libfabric');
  throw new SetupFailure(`native build: ${compiler} failed`, {
    output: verbose ? undefined : lastLines(output),
    hint: 'For everything the compiler said: node scripts/setup.mjs native --verbose',
  });
}
