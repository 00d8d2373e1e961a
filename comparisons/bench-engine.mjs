// The engine against a plain C loop over the same libfabric, and all2all against MPI and gloo, in turns in one run.
// Exits with 1 when a target is missed.
//   npm run bench:engine -- [--rounds 7] [--parts loop,all2all] [--providers shm,tcp] [--ranks 2,4]
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { loadLibrary } from '../dist/fabric/library.js';
import { providerName } from '../dist/fabric/providers.js';
import { preferredPacing } from '../dist/session/pacing.js';
import { buildProgram } from './build.mjs';
import { heading, inTurns, report } from './turns.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    parts: { type: 'string', default: 'loop,all2all' },
    providers: { type: 'string', default: 'shm,tcp' },
    sizes: { type: 'string', default: '8,1024,65536,1048576,16777216' },
    ranks: { type: 'string', default: '2,4' },
  },
});
const rounds = Number(values.rounds);
const runFile = promisify(execFile);
const weft = fileURLToPath(new URL('../bin/weft', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-'));
const exchangeBytes = 4 * 2 ** 20;
/** From here on Weft's buffers lie on huge pages: then those of the C loop do, too. */
const hugeFrom = 2 ** 20;

/** The row a run of Weft measured, in nanoseconds per iteration. */
async function measured(args) {
  const { stdout } = await runFile(process.execPath, [weft, ...args, '--format', 'json'], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  });
  const row = JSON.parse(stdout).rows.find((one) => one.samples.length > 0);
  if (row?.outcome !== 'passed') throw new Error(`weft ${args.join(' ')}: ${stdout}`);
  return row.nanoseconds.p50;
}

async function baseline(program, args) {
  const { stdout } = await runFile(program, args, { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trim().split('\n').at(-1)).nanoseconds.median;
}

const target = (bytes) => (bytes <= 1024 ? 1.06 : 1.03);

/** About a fifth of a second's worth. */
function iterationsFor(provider, bytes) {
  const ns = (provider === 'shm' ? 2000 : 20_000) + bytes * 0.4;
  return Math.max(20, Math.min(50_000, 100 * Math.round(2e8 / ns / 100)));
}

async function loop(provider, op, bytes) {
  const iterations = iterationsFor(provider, bytes);
  const batch = Math.max(1, Math.floor(iterations / 500));
  const name = providerName(provider, loadLibrary());
  // Both with what Weft chooses by itself.
  const { chunkBytes, window } = preferredPacing(name);
  const pacing = ['--chunk', `${Math.min(bytes, chunkBytes)}`, '--window', `${window}`];
  const size = ['-b', `${bytes}`, '-e', `${bytes}`, '-n', `${iterations}`, '-w', `${iterations}`];
  const cOp = op === 'sendrecv' ? ['--op', 'sendrecv'] : ['--op', 'writebw', ...pacing];
  const halves = op === 'sendrecv' ? 2 : 1;
  const times = await inTurns(rounds, {
    c: () =>
      baseline(buildProgram('fabric-pingpong'), [
        ...['--provider', name, ...cOp, '--size', `${bytes}`, '--cores', '0,1'],
        ...['--iterations', `${iterations}`, '--warmup', `${iterations}`, '--batch', `${batch}`],
        ...(bytes >= hugeFrom ? ['--huge-pages'] : []),
      ]),
    weft: async () =>
      (await measured([...[op, '--provider', provider, '--columns', 'SinglePin', ...size]])) /
      halves,
  });
  const label = `${op.padEnd(8)} ${provider.padEnd(4)} ${String(bytes).padStart(9)}`;
  return report(label, times.weft, times.c, target(bytes));
}

/** Both without the block a rank would send itself. */
async function allToAll(ranks) {
  const amount = ['--bytes', `${exchangeBytes}`, '--iterations', '60', '--without-self'];
  const mpi = ['--allow-run-as-root', '--oversubscribe', '-n', `${ranks}`];
  const times = await inTurns(rounds, {
    mpi: () => baseline('mpirun.openmpi', [...mpi, buildProgram('mpi-alltoall'), ...amount]),
    gloo: () =>
      baseline('/usr/bin/python3', [
        buildProgram('gloo_alltoall'),
        '--ranks',
        `${ranks}`,
        ...amount,
      ]),
    weft: () =>
      measured([
        ...['all2all', '--ranks', `${ranks}`, '--columns', 'SinglePin', '-n', '60'],
        ...['-b', `${exchangeBytes}`, '-e', `${exchangeBytes}`],
      ]),
  });
  const label = (peer) => `all2all  ${peer.padEnd(4)} ${`${ranks} ranks`.padStart(9)}`;
  const met = report(label('mpi'), times.weft, times.mpi, 1);
  return report(label('gloo'), times.weft, times.gloo, 1) && met;
}

console.log(
  `${rounds} rounds in turns; load before: ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0]}`,
);
console.log(`op       over     bytes    ${heading}`);
const results = [];
if (values.parts.includes('loop')) {
  for (const provider of values.providers.split(',')) {
    for (const op of ['sendrecv', 'write']) {
      for (const bytes of values.sizes.split(',').map(Number))
        results.push(await loop(provider, op, bytes));
    }
  }
}
if (values.parts.includes('all2all')) {
  for (const ranks of values.ranks.split(',').map(Number)) results.push(await allToAll(ranks));
}
rmSync(folder, { recursive: true, force: true });
process.exitCode = results.every(Boolean) ? 0 : 1;
