// Is the strategy that `weft advise` recommends the fastest one? Draws configurations of the lab (NICs, rate, buffers,
// size), asks for advice with a model that is fitted here at 2 hosts, and measures single, split and round-robin in
// turns. Exits with 1 where fewer than 18 of 20 recommendations are the fastest, or within 3 % of it.
//   npm run bench:advise -- [--count 20] [--seed 1] [--rounds 3]
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { seededRandom } from '../dist/measure/seeded-random.js';
import { formatBytes } from '../dist/measure/units.js';
import { median } from './turns.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
  },
});
const [count, rounds] = [Number(values.count), Number(values.rounds)];
const near = 1.03;
const leastShare = 0.9;
const runFile = promisify(execFile);
const weftPath = fileURLToPath(new URL('../bin/weft', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-advise-'));
const KiB = 1024;

async function weft(...args) {
  const words = [weftPath, ...args.map(String)];
  const { stdout } = await runFile(process.execPath, words, { cwd: folder, maxBuffer: 2 ** 26 });
  return stdout;
}

/** Builds a lab, works in it and removes it. */
async function inLab({ hosts, nics, megabits }, work) {
  const name = `advise-${process.pid}`;
  const shape = ['--hosts', hosts, '--nics', nics, '--rate', `${megabits}mbit`];
  await weft('lab', 'up', '--name', name, ...shape);
  try {
    return await work((...args) => weft('lab', 'run', '--name', name, '--', ...args));
  } finally {
    await weft('lab', 'down', '--name', name, '--force');
  }
}

const rates = [50, 100, 250];

/** Different configurations, whose single-channel iterations take at most half a second. */
function draw() {
  const random = seededRandom(Number(values.seed));
  const from = (list) => list[Math.floor(random() * list.length)];
  const drawn = new Map();
  while (drawn.size < count) {
    const nics = from([2, 3, 4]);
    const megabits = from(rates);
    const buffers = from([1, 2, 3, 4, 5, 6]);
    const bytes = from([64, 128, 256, 512, 1024, 2048]) * KiB;
    if ((buffers * bytes * 8) / (megabits * 1e6) > 0.5) continue;
    const one = { nics, megabits, buffers, bytes };
    drawn.set(JSON.stringify(one), one);
  }
  return [...drawn.values()];
}

/** A model by rate, from writes between 2 hosts over one NIC and over four. */
async function fitModels() {
  const models = new Map();
  for (const megabits of rates) {
    const run = join(folder, `fit-${megabits}.jsonl`);
    await inLab({ hosts: 2, nics: 4, megabits }, (inside) =>
      inside(
        ...['write', '-b', '512K', '-e', '4M', '-f', '2', '-n', '3', '-w', '1', '-c', '0'],
        ...['--columns', 'SinglePin,MultiPin', '--quiet', '--out', run],
      ),
    );
    const file = join(folder, `fit-${megabits}.json`);
    await weft('predict', 'fit', run, '--also', 'write:MultiPin:2M', '-o', file);
    models.set(megabits, JSON.parse(readFileSync(file, 'utf8')));
    const { nicGbps, writeMicroseconds, splitMicroseconds } = models.get(megabits).parameters;
    console.log(
      `fitted at 2 hosts, ${megabits}mbit: ${(nicGbps * 1000).toFixed(1)} Mbps per NIC, ` +
        `${writeMicroseconds.toFixed(0)} us per write, ${splitMicroseconds.toFixed(0)} us per split`,
    );
  }
  return models;
}

async function advised(model, { nics, buffers, bytes }) {
  const file = join(folder, 'model.json');
  writeFileSync(file, JSON.stringify({ ...model, nicsPerRank: nics }));
  const question = ['--buffers', buffers, '--bytes', bytes, '--memory', 'pinned'];
  return JSON.parse(await weft('advise', '--fabric', file, ...question, '--format', 'json'));
}

const columns = { single: 'SinglePin', split: 'MultiPin', 'round-robin': 'RoundRobinPin' };

/** Milliseconds of each strategy: the median over rounds in which all take their turn. */
async function measured({ nics, megabits, buffers, bytes }) {
  return inLab({ hosts: buffers + 1, nics, megabits }, async (inside) => {
    const times = Object.fromEntries(Object.keys(columns).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      const sizes = ['-b', bytes, '-e', bytes, '-n', 5, '-w', 1, '-c', 0, '--buffers', buffers];
      const names = ['--columns', Object.values(columns).join(',')];
      const { rows } = JSON.parse(await inside('write', ...sizes, ...names, '--format', 'json'));
      for (const [name, column] of Object.entries(columns)) {
        const row = rows.find((one) => one.column === column);
        if (row.outcome !== 'passed') throw new Error(JSON.stringify(row));
        times[name].push(row.nanoseconds.p50 / 1e6);
      }
    }
    return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
  });
}

// Ctrl-C ends the command under way, and with it the work in the lab: the lab is then removed as always.
process.on('SIGINT', () => {});

let good = 0;
let exact = 0;
try {
  const models = await fitModels();
  console.log(`\n${count} configurations, seed ${values.seed}, medians of ${rounds} rounds, ms\n`);
  console.log(
    '| NICs | rate | buffers | size | advised | predicted | single | split | round-robin | of the best |\n' +
      '| ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |',
  );
  for (const one of draw()) {
    const { best, strategies } = await advised(models.get(one.megabits), one);
    const predicted = strategies.find(({ strategy }) => strategy === best).nanoseconds / 1e6;
    const times = await measured(one);
    const ratio = times[best] / Math.min(...Object.values(times));
    if (ratio <= near) good++;
    if (ratio === 1) exact++;
    const cells = [predicted, times.single, times.split, times['round-robin']];
    console.log(
      `| ${one.nics} | ${one.megabits}mbit | ${one.buffers} | ${formatBytes(one.bytes)} | ${best} | ` +
        `${cells.map((time) => time.toFixed(1)).join(' | ')} | ${ratio.toFixed(3)}×${ratio > near ? ' **missed**' : ''} |`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const wanted = Math.ceil(leastShare * count);
console.log(
  `\n${good} of ${count} within 3 % of the fastest (${exact} the fastest); target ${wanted}: ${good >= wanted ? 'met' : 'missed'}`,
);
process.exitCode = good >= wanted ? 0 : 1;
