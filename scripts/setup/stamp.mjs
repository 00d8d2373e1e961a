// A stamp says which inputs a finished step was made from. It is removed before the step starts and
// written after it succeeded, so an interrupted or failed step is never mistaken for a finished one.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export function stampFolder(root) {
  return join(root, '.setup');
}

export function readStamp(root, name) {
  try {
    return JSON.parse(readFileSync(join(stampFolder(root), `${name}.json`), 'utf8'));
  } catch {
    return undefined;
  }
}

export function writeStamp(root, name, inputs) {
  const file = join(stampFolder(root), `${name}.json`);
  mkdirSync(stampFolder(root), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(inputs)}\n`);
  renameSync(`${file}.${process.pid}`, file);
}

export function removeStamp(root, name) {
  rmSync(join(stampFolder(root), `${name}.json`), { force: true });
}

export function sameInputs(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** One hash over the names and contents of files and of everything under folders; what is absent counts as empty. */
export function hashOf(root, paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => filesUnder(join(root, path))).sort()) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesUnder(path) {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? filesUnder(join(path, entry.name)) : [join(path, entry.name)],
    );
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
