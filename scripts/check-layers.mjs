// Imports point down. Each room names the rooms it may import; a file at the root of src/ is open to all. A sub-folder
// is a room of its own where it is named here.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const data = [
  'measure',
  'settings',
  'topology',
  'plan',
  'simulate',
  'reference',
  'results',
  'analysis',
  'results/formats',
];
const below = {
  memory: ['native'],
  gpu: ['native', 'memory'],
  fabric: ['native', 'memory', 'gpu'],
  world: ['native', 'memory', 'gpu', 'fabric'],
  engine: ['native', 'memory', 'gpu', 'fabric', 'world'],
  shmem: ['native', 'memory', 'gpu', 'fabric', 'world', 'engine'],
};
const session = ['native', 'memory', 'gpu', 'fabric', 'world', 'engine', 'shmem'];
const withData = (rooms) => [...rooms, ...data];

const allowed = {
  native: data,
  ...Object.fromEntries(Object.entries(below).map(([room, rooms]) => [room, withData(rooms)])),
  session: withData(session),
  peers: withData([...session, 'session']),
  runner: withData([...session, 'session', 'peers']),
  benchmarks: withData([...session, 'session', 'peers', 'runner']),
  lab: withData(['world', 'native']),
  report: ['measure', 'results', 'analysis', 'results/formats'],
  live: ['measure', 'results', 'analysis', 'results/formats', 'report'],
  measure: [],
  settings: ['measure'],
  topology: ['measure', 'reference'],
  plan: ['measure'],
  simulate: ['measure', 'plan'],
  reference: ['measure', 'plan', 'simulate'],
  results: ['measure', 'plan', 'topology'],
  analysis: ['measure', 'plan', 'simulate', 'reference', 'topology', 'results'],
  'results/formats': ['measure', 'plan', 'simulate', 'topology', 'results', 'analysis'],
};

const root = resolve(
  import.meta.dirname ?? dirname(new URL(import.meta.url).pathname),
  '..',
  'src',
);
const problems = [];

function roomOf(file) {
  const parts = relative(root, file).split('/').slice(0, -1);
  if (parts.length === 0) return '.';
  const nested = parts.slice(0, 2).join('/');
  return allowed[nested] === undefined ? parts[0] : nested;
}

function mayImport(from, to) {
  if (from === to || from === 'cli' || to === '.') return true;
  if (from === '.' || from === 'entry') return to !== 'cli';
  return allowed[from]?.includes(to) ?? false;
}

const free = ['cli', '.', 'entry'];
const seen = new Set(free);
for (const entry of readdirSync(root, { recursive: true })) {
  if (!entry.endsWith('.ts')) continue;
  const file = join(root, entry);
  const from = roomOf(file);
  seen.add(from);
  if (!free.includes(from) && allowed[from] === undefined) {
    problems.push(`${entry}: "${from}" is not a room`);
  }
  for (const match of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const to = roomOf(resolve(dirname(file), match[1]));
    if (!mayImport(from, to)) problems.push(`${entry}: ${from} may not import ${to} (${match[1]})`);
  }
}
for (const room of Object.keys(allowed)) {
  if (!seen.has(room)) problems.push(`"${room}" is a rule for a room that does not exist`);
}
if (problems.length > 0) {
  console.error(`import layers: ${problems.length} broken\n${problems.join('\n')}`);
  process.exit(1);
}
