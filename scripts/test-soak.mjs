// Runs several benchmarks in a lab and over shared memory for a long time, and checks that no rank and no launcher grows:
// memory, file descriptors, threads and shared memory, sampled all along. Needs root. npm run test:soak -- --minutes 30
import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bounds, judge } from './soak-growth.mjs';
import { buildMemory } from './soak-memory.cjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '100mbit' },
    'sample-seconds': { type: 'string', default: '5' },
    samples: { type: 'string' }, // a file for all samples
  },
});
const minutes = Number(values.minutes);
const sampleMs = Number(values['sample-seconds']) * 1000;
if (!(minutes > 0 && sampleMs > 0))
  throw new Error('--minutes and --sample-seconds must be above 0');

const scripts = dirname(fileURLToPath(import.meta.url));
const weft = join(scripts, '../bin/weft');
const lab = `soak${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'weft-soak-'));
/** Every process collects its garbage, then writes here what it holds: see soak-memory.cjs. */
const memory = join(folder, 'memory');
const env = {
  ...process.env,
  // V8 gives new objects more pages when it is busy, up to tens of MiB, and keeps them.
  NODE_OPTIONS: `--max-semi-space-size=1 --require ${join(scripts, 'soak-memory.cjs')}`,
  // malloc writes to all memory that it hands out. libfabric's pools are large, and their pages would otherwise become
  // resident one by one, for hours, as messages reach them.
  MALLOC_PERTURB_: '165',
  SOAK_MEMORY: memory,
  SOAK_MEMORY_MS: String(sampleMs),
};
/** The start is no growth: code is compiled, heaps and pools take their size. */
const warmUp = 0.2;

/** 360 intervals at most: a long soak is no more work to judge. */
const every = `${Math.ceil(Math.max(5, minutes / 6))}s`;
const soak = ['soak', '--for', `${Math.ceil(minutes * 60)}s`, '--every', every, '--quiet'];
const inLab = (...command) => ['lab', 'run', '--name', lab, '--', ...soak, ...command];
const small = ['-b', '64K', '-e', '64K'];
const jobs = {
  'write, reopened': inLab('--reopen', '--', 'write', ...small),
  allreduce: inLab('--', 'allreduce', ...small),
  moe: inLab('--', 'moe', '--tokens', '64'),
  'sendrecv over shm, reopened': [
    ...[...soak, '--ranks', '2', '--reopen', '--', 'sendrecv', '--provider', 'shm', ...small],
  ],
};

async function main() {
  mkdirSync(memory);
  buildMemory(memory);
  lab_('up', '--hosts', '2', '--nics', '2', '--rate', values.rate, '--name', lab);
  try {
    const running = Object.entries(jobs).map(([name, command], index) =>
      start(name, command, index),
    );
    const samples = await watch(running);
    const ends = await Promise.all(running.map(({ ended }) => ended));
    // 4 is a verdict on stalls, which a busy machine has.
    const failed = ends.filter(({ code }) => code !== 0 && code !== 4);
    for (const { name, code, output } of failed)
      console.log(`FAILED ${name}: exit code ${code}\n${output}`);
    const flat = report(samples);
    process.exitCode = failed.length === 0 && flat ? 0 : 1;
  } finally {
    lab_('down', '--name', lab, '--force');
    rmSync(folder, { recursive: true, force: true });
  }
}

function lab_(...args) {
  const { status, stderr } = spawnSync(weft, ['lab', ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`weft lab ${args[0]} failed: ${stderr}`);
}

function start(name, command, index) {
  const cwd = join(folder, String(index));
  mkdirSync(cwd);
  const child = spawn(weft, command, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output = (output + text).slice(-4000);
    });
  }
  const ended = new Promise((resolve) => {
    child.on('close', (code) => resolve({ name, code, output }));
  });
  return { name, pid: child.pid, ended };
}

/** Samples of every process of every job, until the first job ends. */
async function watch(running) {
  const series = new Map();
  const startMs = performance.now();
  let over = false;
  void Promise.race(running.map(({ ended }) => ended)).then(() => {
    over = true;
  });
  while (!over) {
    const parents = parentsOf();
    for (const { name, pid } of running) {
      for (const [number, process] of familyOf(pid, parents).entries()) {
        const found = sample(process);
        if (!found) continue;
        const title = `${name}: ${number === 0 ? 'launcher' : `process ${number}`}`;
        const key = `${title} ${process}`;
        if (!series.has(key)) series.set(key, { job: name, title, samples: [] });
        series.get(key).samples.push({ ...found, atMs: performance.now() - startMs });
      }
    }
    await sleep(sampleMs);
  }
  return [...series.values()];
}

function parentsOf() {
  const parents = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // it has ended
    }
  }
  return parents;
}

/** A process and all that it started, the oldest first. */
function familyOf(root, parents) {
  const family = [root];
  for (const pid of family) {
    for (const [child, parent] of parents) if (parent === pid) family.push(child);
  }
  return family;
}

/** Undefined when it has ended, or has not yet written what it holds. */
function sample(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
    const shared = new Set(maps.match(/\/dev\/shm\/\S+/g) ?? []);
    const bytes = [...shared].reduce((sum, path) => sum + sizeOf(path), 0);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    if (readlinkSync(`/proc/${pid}/exe`) !== process.execPath) return undefined; // ip netns exec, before it is weft
    return {
      ...JSON.parse(readFileSync(join(memory, `${pid}.json`), 'utf8')),
      descriptors,
      threads: number('Threads'),
      sharedKiB: bytes / 1024,
    };
  } catch {
    return undefined;
  }
}

function sizeOf(path) {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** Prints a table as the docs have it; whether everything is flat. */
function report(series) {
  const text = (value) => String(Math.round(value * 10) / 10);
  if (values.samples) writeFileSync(values.samples, JSON.stringify(series));
  console.log('| process | figure | first third | last third | per hour | bound | verdict |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  const { rows, against } = judge(series, { jobs: Object.keys(jobs), minutes, warmUp });
  for (const { title, figure, first, last, perHour, most, grows } of rows) {
    const name = bounds[figure].unit ? `${figure.replace(/KiB$/, '')}, KiB` : figure;
    const numbers = [first, last, perHour, most].map(text);
    console.log(`| ${[title, name, ...numbers, grows ? 'GROWS' : 'flat'].join(' | ')} |`);
  }
  const count = series.reduce((most, { samples }) => Math.max(most, samples.length), 0);
  const flat = against.length === 0;
  const verdict = flat ? 'everything is flat' : `NOT passed\n${against.join('\n')}`;
  console.log(`${minutes} minutes, ${count} samples per process: ${verdict}`);
  return flat;
}

await main();
