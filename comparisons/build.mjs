// Builds the programs of this folder into build/comparisons/ when they are older than their sources.
//   node comparisons/build.mjs [NAME…]
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const output = fileURLToPath(new URL('../build/comparisons', import.meta.url));
const flags = ['-std=gnu11', '-O3', '-flto', '-Wall', '-Wextra'];

const fabric = { compiler: 'gcc', shared: ['fabric-pair.c'], headers: ['fabric-pair.h'] };
const programs = {
  'fabric-pingpong': { ...fabric, libraries: ['-lfabric'] },
  'fabric-rate': { ...fabric, libraries: ['-lfabric'] },
  'fabric-bidir': { ...fabric, libraries: ['-lfabric'] },
  'open-close-loop': { ...fabric, libraries: ['-lfabric'] },
  // By its full name: where MPICH is installed too, mpicc may be either.
  'mpi-alltoall': { compiler: 'mpicc.openmpi', shared: [], headers: [], libraries: [] },
};
const scripts = ['gloo_alltoall.py'];

export const programNames = [
  ...Object.keys(programs),
  ...scripts.map((file) => basename(file, '.py')),
];

/** Builds the named program if it is stale and returns its path; a script's path is that of its source. */
export function buildProgram(name) {
  const script = scripts.find((file) => basename(file, '.py') === name);
  if (script !== undefined) return join(here, script);
  const program = programs[name];
  if (program === undefined)
    throw new TypeError(`no program ${name}; there are ${programNames.join(', ')}`);
  const sources = [`${name}.c`, ...program.shared].map((file) => join(here, file));
  const inputs = [
    ...sources,
    ...program.headers.map((file) => join(here, file)),
    fileURLToPath(import.meta.url),
  ];
  const target = join(output, name);
  if (modifiedMs(target) < Math.max(...inputs.map(modifiedMs))) compile(program, sources, target);
  return target;
}

/** Into a name of its own and then into place, so that nobody runs half a program. */
function compile({ compiler, libraries }, sources, target) {
  mkdirSync(output, { recursive: true });
  const fresh = `${target}.${process.pid}`;
  execFileSync(compiler, [...flags, '-o', fresh, ...sources, ...libraries], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  renameSync(fresh, target);
}

function modifiedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.length > 2 ? process.argv.slice(2) : programNames;
  for (const name of names) console.log(buildProgram(name));
}
