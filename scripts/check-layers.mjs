// Imports point down. Each room names the rooms it may import; a file at the root of src/ is open to all.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const shared = ['plan', 'measure', 'topology', 'results'];
const allowed = {
  native: [],
  memory: ['native'],
  gpu: ['native', 'memory'],
  simulate: [],
  fabric: ['native', 'memory', 'gpu'],
  world: ['native', 'memory', 'fabric', 'gpu'],
  engine: ['native', 'memory', 'fabric', 'gpu', 'simulate', 'world'],
  shmem: ['native', 'memory', 'fabric', 'gpu', 'world', 'engine'],
  bench: ['engine', 'world', 'shmem', 'fabric', 'gpu', 'memory', 'native', 'simulate'],
  collective: ['bench', 'engine', 'world', 'shmem', 'fabric', 'gpu', 'memory', 'native'],
  lab: ['world', 'native'],
  report: [],
  live: ['report'],
  measure: [],
  topology: ['measure'],
  plan: ['measure'],
  results: ['measure', 'plan', 'topology'],
};
const onlyResultsAndMeasure = new Set(['report', 'live']);

const root = resolve(
  import.meta.dirname ?? dirname(new URL(import.meta.url).pathname),
  '..',
  'src',
);
const problems = [];

function mayImport(from, to) {
  if (from === to || from === 'cli' || to === '.') return true;
  if (from === '.') return to !== 'cli';
  const list = allowed[from];
  if (list === undefined) return false;
  if (onlyResultsAndMeasure.has(from)) return [...list, 'results', 'measure'].includes(to);
  if (shared.includes(from)) return list.includes(to);
  return list.includes(to) || shared.includes(to);
}

const roomOf = (file) => {
  const parts = relative(root, file).split('/');
  return parts.length === 1 ? '.' : parts[0];
};

for (const entry of readdirSync(root, { recursive: true })) {
  if (!entry.endsWith('.ts')) continue;
  const file = join(root, entry);
  const from = roomOf(file);
  if (from !== '.' && from !== 'cli' && allowed[from] === undefined) {
    problems.push(`${entry}: "${from}" is not a room`);
  }
  for (const match of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const to = roomOf(resolve(dirname(file), match[1]));
    if (!mayImport(from, to)) problems.push(`${entry}: ${from} may not import ${to} (${match[1]})`);
  }
}
if (problems.length > 0) {
  console.error(`import layers: ${problems.length} broken\n${problems.join('\n')}`);
  process.exit(1);
}
