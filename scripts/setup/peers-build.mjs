// Builds the shims of native/peers/ for the libraries whose headers are here. One that is missing is no failure:
// `weft all-to-all-single` skips its backend and says how to get it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, runCommand } from './command.mjs';
import { SetupFailure } from './failure.mjs';
import { hashOf, readStamp, removeStamp, sameInputs, writeStamp } from './stamp.mjs';

const folder = 'build/peers';
const flags = ['-std=c++17', '-O3', '-fPIC', '-shared', '-fvisibility=hidden', '-Wall', '-Wextra'];

const glooHeaders = ['/usr/include', '/usr/local/include'].map((at) => `${at}/gloo/alltoall.h`);

/** Each gives the compiler of its shim, or undefined where the library's headers are missing. */
const shims = [
  {
    name: 'gloo',
    source: 'gloo.cc',
    libraries: ['-lgloo'],
    compiler: () => (glooHeaders.some((file) => existsSync(file)) ? 'g++' : undefined),
  },
  {
    name: 'openmpi',
    source: 'mpi.cc',
    libraries: [],
    compiler: () => wrapper(['mpicxx.openmpi', 'mpicxx'], '--showme:version', /Open MPI/),
  },
  {
    name: 'mpich',
    source: 'mpi.cc',
    libraries: [],
    compiler: () => wrapper(['mpicxx.mpich', 'mpicxx'], '-show', /mpich/i),
  },
];

/** Where several MPIs are installed, `mpicxx` may be any of them: what it says decides. */
function wrapper(names, question, answer) {
  return names.find((name) => {
    const { stdout, stderr } = spawnSync(name, [question], { encoding: 'utf8' });
    return answer.test(`${stdout ?? ''}${stderr ?? ''}`);
  });
}

function inputs(root) {
  const compilers = Object.fromEntries(
    shims.map(({ name, compiler }) => [name, compiler() ?? null]),
  );
  const sources = hashOf(root, ['native/peers', 'scripts/setup/peers-build.mjs']);
  return { arch: process.arch, sources, compilers };
}

const output = (root, name) => join(root, folder, `${name}.so`);

export const peersBuild = {
  pending({ root }) {
    const wanted = inputs(root);
    const built = Object.entries(wanted.compilers)
      .filter(([, compiler]) => compiler !== null)
      .every(([name]) => existsSync(output(root, name)));
    return built && sameInputs(readStamp(root, 'peers'), wanted)
      ? undefined
      : 'comparison libraries';
  },
  async perform({ root, verbose }) {
    const wanted = inputs(root);
    removeStamp(root, 'peers');
    mkdirSync(join(root, folder), { recursive: true });
    for (const shim of shims) {
      const compiler = wanted.compilers[shim.name];
      if (compiler === null) rmSync(output(root, shim.name), { force: true });
      else await compile(root, shim, compiler, verbose);
    }
    writeStamp(root, 'peers', wanted);
    const there = Object.keys(wanted.compilers).filter((name) => wanted.compilers[name] !== null);
    return `comparison libraries: ${there.join(', ') || 'none installed'}`;
  },
};

/** Into a name of its own and then into place, so that nobody opens half a library. */
async function compile(root, { name, source, libraries }, compiler, verbose) {
  const fresh = `${output(root, name)}.${process.pid}`;
  const args = [...flags, '-o', fresh, join(root, 'native/peers', source), ...libraries];
  const result = await runCommand(compiler, args, { cwd: root, show: verbose });
  if (result.code !== 0) {
    throw new SetupFailure(`the shim for ${name} could not be built`, {
      output: verbose ? undefined : lastLines(result.output),
      hint: 'Repair or remove the development package of that library. Weft runs without it.',
    });
  }
  renameSync(fresh, output(root, name));
}
