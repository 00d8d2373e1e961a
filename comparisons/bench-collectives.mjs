// Weft's exchange against gloo's and MPI's: `weft all-to-all-single` runs them in turns, exchange by exchange, in one
// job on the same tensors. Each job gives a median per library; the medians of the jobs are compared. Exits with 1 when
// a target is missed, or when a library that should be compared is not here.
//   npm run bench:collectives -- [--rounds 7] [--ranks 2,4] [--sizes 65536,…] [--iters 0 (by size)]
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { headingOfMedians, inTurns, median, report } from './turns.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    ranks: { type: 'string', default: '2,4' },
    sizes: { type: 'string', default: '65536,262144,1048576,4194304,16777216,67108864' },
    iters: { type: 'string', default: '0' },
  },
});
const rounds = Number(values.rounds);
const runFile = promisify(execFile);
const weft = fileURLToPath(new URL('../bin/weft', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-'));
const glooBytes = 4 * 2 ** 20;
const targets = { gloo: 0.5, mpi: 1.05 };

/** Enough for a steady median, and at most some seconds' worth of filling and comparing. */
const iterationsFor = (bytes) =>
  Number(values.iters) || Math.max(11, Math.min(201, Math.round(2 ** 29 / bytes)));

/** One job: the median of each backend's exchanges, in nanoseconds, by its name. */
async function job(ranks, bytes, backends) {
  const args = ['all-to-all-single', '--ranks', `${ranks}`, '--msg-bytes', `${bytes}`];
  const amount = ['--iters', `${iterationsFor(bytes)}`, '--backend', backends.join(',')];
  const { stdout } = await runFile(
    process.execPath,
    [weft, ...args, ...amount, '--format', 'json', '--quiet'],
    { cwd: folder, maxBuffer: 2 ** 28 },
  );
  const { rows } = JSON.parse(stdout);
  for (const { column, outcome, reason } of rows) {
    if (outcome !== 'passed') throw new Error(`${column} is ${outcome}: ${reason}`);
  }
  return Object.fromEntries(rows.map(({ column, nanoseconds }) => [column, nanoseconds.p50]));
}

async function compare(ranks, bytes) {
  const peers = bytes === glooBytes ? ['gloo', 'mpi'] : ['mpi'];
  const { jobs } = await inTurns(rounds, { jobs: () => job(ranks, bytes, ['fabric', ...peers]) });
  const of = (name) => jobs.map((one) => one[name]);
  return peers
    .map((peer) => {
      const label = `${peer.padEnd(5)} ${ranks} ranks ${String(bytes).padStart(9)}`;
      return report(label, of('fabric'), of(peer), targets[peer], median);
    })
    .every(Boolean);
}

console.log(
  `${rounds} jobs each; load before: ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0]}`,
);
console.log(`peer          bytes       ${headingOfMedians}`);
const results = [];
try {
  for (const ranks of values.ranks.split(',').map(Number)) {
    for (const bytes of values.sizes.split(',').map(Number)) {
      results.push(await compare(ranks, bytes));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = results.every(Boolean) ? 0 : 1;
