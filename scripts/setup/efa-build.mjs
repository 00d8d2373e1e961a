// Builds the emulated EFA device: a libibverbs and a libefa that the EFA provider of libfabric loads in place of the
// system's. Without the headers of verbs nothing is built; only `weft emulate` and the lab's --efa then say so.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, runCommand } from './command.mjs';
import { SetupFailure } from './failure.mjs';
import { compileAll } from './native-objects.mjs';
import { hashOf, readStamp, removeStamp, sameInputs, writeStamp } from './stamp.mjs';

const source = 'devices/efa';
const folder = 'build/efa';
const compiler = 'g++';
const headers = ['/usr/include', '/usr/local/include'].map((at) => `${at}/infiniband/efadv.h`);

const flags = [
  ...['-std=c++20', '-O3', '-fPIC', '-pthread', '-fno-gnu-unique'],
  ...['-Wall', '-Wextra', '-Wno-unused-parameter'],
];
const linkFlags = [
  ...['-shared', '-pthread', '-O3', '-s', '-Wl,--as-needed', '-Wl,--no-undefined'],
  ...['-static-libstdc++', '-shared-libgcc', '-Wl,--gc-sections'],
];

const libibverbs = `${folder}/libibverbs.so.1`;
const libefa = `${folder}/libefa.so.1`;
/** libefa passes everything on to libibverbs. */
export const efaLibraries = [libibverbs, libefa];

const missing =
  'emulated EFA device: not built (infiniband/efadv.h not found; install libibverbs-dev)';

export const efaBuild = {
  pending({ root }) {
    const built = efaLibraries.every((file) => existsSync(join(root, file)));
    const wanted = inputs(root);
    const done = (built || !wanted.tools.headers) && sameInputs(readStamp(root, 'efa'), wanted);
    return done ? undefined : 'emulated EFA device';
  },
  async perform({ root, verbose }) {
    const wanted = inputs(root);
    removeStamp(root, 'efa');
    if (wanted.tools.headers) await build(root, wanted.tools, verbose);
    else for (const file of efaLibraries) rmSync(join(root, file), { force: true });
    writeStamp(root, 'efa', wanted);
    return wanted.tools.headers ? 'emulated EFA device' : missing;
  },
};

function inputs(root) {
  const version = spawnSync(compiler, ['-dumpfullversion', '-dumpmachine'], { encoding: 'utf8' });
  const tools = {
    compiler: version.stdout?.trim().replaceAll('\n', ' ') || undefined,
    scripts: hashOf(root, ['scripts/setup/efa-build.mjs', 'scripts/setup/native-objects.mjs']),
    headers: headers.some((file) => existsSync(file)),
  };
  return { tools, sources: hashOf(root, [source]) };
}

async function build(root, tools, verbose) {
  const sources = readdirSync(join(root, source))
    .filter((name) => name.endsWith('.cc'))
    .map((name) => `${source}/${name}`);
  const compile = (from, object, more) =>
    run(root, [...flags, ...more, '-c', from, '-o', object], verbose);
  const objects = await compileAll({ root, stamp: 'efa-objects', tools, sources, compile });
  const isThin = (object) => object.endsWith('/libefa.o');
  mkdirSync(join(root, folder), { recursive: true });
  await link(
    root,
    libibverbs,
    'libibverbs',
    objects.filter((object) => !isThin(object)),
    verbose,
  );
  await link(root, libefa, 'libefa', [...objects.filter(isThin), libibverbs], verbose);
}

/** Into a name of its own and then into place, so that nobody opens half a library. */
async function link(root, file, name, objects, verbose) {
  const fresh = `${file}.${process.pid}`;
  const names = [`-Wl,-soname,${name}.so.1`, `-Wl,--version-script,${source}/${name}.map`];
  try {
    await run(root, [...objects, ...linkFlags, ...names, '-o', fresh], verbose);
    renameSync(join(root, fresh), join(root, file));
  } finally {
    rmSync(join(root, fresh), { force: true });
  }
}

async function run(root, args, verbose) {
  const { code, output } = await runCommand(compiler, args, { cwd: root, show: verbose });
  if (code === 0) return;
  throw new SetupFailure(`emulated EFA device: ${compiler} failed`, {
    output: verbose ? undefined : lastLines(output),
    hint: 'For everything the compiler said: node scripts/setup.mjs build --verbose',
  });
}
