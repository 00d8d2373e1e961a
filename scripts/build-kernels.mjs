// Compiles kernels/*.cu to kernels/ptx/*.ptx, and examples/*.cu to *.ptx beside them. Both are committed: a machine that
// runs Weft needs no CUDA toolkit.
//   npm run kernels            compiles all of them, and proves with ptxas that they assemble
//   npm run kernels -- --check writes nothing; exits with 1 when a committed file is not what would be written
// nvcc writes the newest PTX version it knows, which only drivers as new as itself accept, though nothing in our
// kernels needs it: the version is lowered to one that every driver from CUDA 11.0 on accepts, for sm_80 and later.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Where sources are, and where the PTX of each goes. */
const folders = [
  { sources: join(root, 'kernels'), ptx: join(root, 'kernels', 'ptx') },
  { sources: join(root, 'examples'), ptx: join(root, 'examples') },
];
export const ptxVersion = '7.0';
export const provenFor = ['sm_80', 'sm_90'];
const flags = ['-ptx', '-std=c++17', '-O3', '-arch=compute_80'];

const namesIn = ({ sources }) =>
  readdirSync(sources)
    .filter((file) => file.endsWith('.cu'))
    .map((file) => file.slice(0, -3))
    .sort();

export const kernelNames = () => folders.flatMap(namesIn);

const folderOf = (name) => folders.find((folder) => namesIn(folder).includes(name));
const sourceFile = (name) => join(folderOf(name).sources, `${name}.cu`);
export const ptxFile = (name) => join(folderOf(name).ptx, `${name}.ptx`);

/** One hash over a kernel file and everything of ours that it includes: is the PTX of these very sources? */
export function sourcesHash(name) {
  const seen = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, included] of readFileSync(file, 'utf8').matchAll(/^#include "([^"]+)"/gm)) {
      visit(resolve(dirname(file), included));
    }
  };
  visit(sourceFile(name));
  const hash = createHash('sha256').update(`${flags.join(' ')} ${ptxVersion}\0`);
  for (const file of [...seen].sort()) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The version of nvcc, or undefined where there is none. */
export function nvccVersion() {
  try {
    return /V(\d+\.\d+\.\d+)/.exec(execFileSync('nvcc', ['--version'], { encoding: 'utf8' }))?.[1];
  } catch {
    return undefined;
  }
}

/** The first lines of a PTX file of ours: what it was made from, and by which nvcc. */
export function readHeader(text) {
  return {
    sources: /^\/\/ sources sha256 ([0-9a-f]{64})$/m.exec(text)?.[1],
    nvcc: /^\/\/ nvcc (\S+)$/m.exec(text)?.[1],
    version: /^\.version (\S+)$/m.exec(text)?.[1],
  };
}

/** The PTX as it is committed. */
export function compile(name) {
  const work = mkdtempSync(join(tmpdir(), 'weft-kernels-'));
  try {
    const output = join(work, `${name}.ptx`);
    execFileSync('nvcc', [...flags, '-o', output, sourceFile(name)], {
      stdio: 'inherit',
    });
    const body = readFileSync(output, 'utf8')
      .replace(/^(\/\/.*\n|\s*\n)*/, '')
      .replace(/^\.version \S+$/m, `.version ${ptxVersion}`);
    const header = [
      `// Made by scripts/build-kernels.mjs from ${relative(root, sourceFile(name))}; do not edit.`,
      `// sources sha256 ${sourcesHash(name)}`,
      `// nvcc ${nvccVersion()}`,
    ];
    return `${header.join('\n')}\n\n${body.trimEnd()}\n`;
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Throws what ptxas said unless the text assembles for this architecture; else registers and spills, by kernel. */
export function assemble(text, architecture) {
  const work = mkdtempSync(join(tmpdir(), 'weft-ptxas-'));
  try {
    const input = join(work, 'kernels.ptx');
    writeFileSync(input, text);
    const args = [`-arch=${architecture}`, '-v', '-o', join(work, 'kernels.cubin'), input];
    return execFileSync('sh', ['-c', 'ptxas "$@" 2>&1', 'ptxas', ...args], { encoding: 'utf8' });
  } finally {
    rmSync(work, { recursive: true });
  }
}

function main(check) {
  if (nvccVersion() === undefined) {
    console.error(
      'nvcc is not on PATH: install the CUDA toolkit, or use the committed PTX as it is.',
    );
    return 1;
  }
  let stale = 0;
  for (const { ptx } of folders) mkdirSync(ptx, { recursive: true });
  for (const name of kernelNames()) {
    const text = compile(name);
    for (const architecture of provenFor) assemble(text, architecture);
    if (!check) writeFileSync(ptxFile(name), text);
    const same = readFileSync(ptxFile(name), 'utf8') === text;
    if (!same) stale++;
    console.log(`${relative(root, ptxFile(name))}: ${same ? 'up to date' : 'stale'}`);
  }
  return stale === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.includes('--check'));
}
