// Compiles sources to objects in a folder of build/, as many at a time as there are cores. An object is kept while the
// source and the headers it includes have the contents it was made from.
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { hashOf, readStamp, removeStamp, sameInputs, writeStamp } from './stamp.mjs';

const objectIn = (folder, source) => source.replace(/^(?:native\/)?(.*)\.cc$/, `${folder}/$1.o`);

/**
 * Resolves with the objects of all sources. `compile(source, object, flags)` makes one and rejects if it cannot;
 * `stamp` names the record of what they were made from.
 */
export async function compileAll(job) {
  const { root, stamp, tools, sources, compile, folder = 'build/objects' } = job;
  const objectOf = (source) => objectIn(folder, source);
  const before = readStamp(root, stamp);
  const known = sameInputs(before?.tools, tools) ? before.made : {};
  const made = Object.fromEntries(
    sources
      .filter((source) => isCurrent(root, source, objectOf(source), known))
      .map((each) => [each, known[each]]),
  );
  // Large ones first: the last to finish then are small.
  const sizeOf = (source) => statSync(join(root, source)).size;
  const waiting = sources.filter((source) => made[source] === undefined);
  waiting.sort((a, b) => sizeOf(a) - sizeOf(b));
  removeStamp(root, stamp);
  const work = async () => {
    for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
      const object = objectOf(source);
      const list = `${object}.d`;
      mkdirSync(dirname(join(root, object)), { recursive: true });
      await compile(source, object, ['-MMD', '-MF', list]).catch((error) => {
        waiting.length = 0;
        throw error;
      });
      const files = dependencies(readFileSync(join(root, list), 'utf8'));
      made[source] = { files, hash: hashOf(root, files) };
    }
  };
  try {
    const ends = await Promise.allSettled(Array.from({ length: availableParallelism() }, work));
    for (const { reason } of ends) if (reason !== undefined) throw reason;
  } finally {
    writeStamp(root, stamp, { tools, made });
  }
  return sources.map(objectOf);
}

function isCurrent(root, source, object, known) {
  const record = known[source];
  if (record === undefined || !existsSync(join(root, object))) return false;
  return hashOf(root, record.files) === record.hash;
}

/** The files of a rule as compilers write them for make. Headers of the system are not among them. */
export function dependencies(rule) {
  return rule
    .slice(rule.indexOf(':') + 1)
    .replaceAll('\\\n', ' ')
    .split(/\s+/)
    .filter((path) => path !== '');
}
