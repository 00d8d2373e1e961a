// What a promise per operation costs: ping-pong over the awaitable API against the plain C loop, in turns, both as
// two processes on the same two cores. Exits with 1 when a target is missed.
//   npm run bench:api -- [--rounds 9] [--providers shm,tcp] [--sizes 8,1048576] [--cores 0,1]
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { loadLibrary } from '../dist/fabric/library.js';
import { providerName } from '../dist/fabric/providers.js';
import { spawnRanks } from '../dist/index.js';
import { buildProgram } from './build.mjs';
import { heading, inTurns, report } from './turns.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '11' },
    providers: { type: 'string', default: 'shm,tcp' },
    sizes: { type: 'string', default: '8,1024,65536,1048576' },
    cores: { type: 'string', default: '0,1' },
  },
});
/** The most our time may be of C's, by message size; sizes between are shown without a target. */
const targets = { 8: 3, 1048576: 1.05 };
/** From here on Weft's buffers lie on huge pages: then those of the C loop do, too. */
const hugeFrom = 2 ** 20;
const runFile = promisify(execFile);
const program = fileURLToPath(new URL('api-pingpong.mjs', import.meta.url));
const loop = buildProgram('fabric-pingpong');

/** About a third of a second's worth, in a hundred batches. */
function amountFor(provider, bytes) {
  const roundTripNs = 2 * ((provider === 'shm' ? 1500 : 12_000) + bytes * 0.25);
  const batch = Math.max(1, Math.round(3e6 / roundTripNs));
  return { batch, iterations: 100 * batch, warmup: 60 * batch };
}

async function inC(provider, bytes, { batch, iterations, warmup }) {
  const name = providerName(provider, loadLibrary());
  const { stdout } = await runFile(loop, [
    ...['--provider', name, '--op', 'sendrecv', '--size', `${bytes}`, '--cores', values.cores],
    ...['--iterations', `${iterations}`, '--warmup', `${warmup}`, '--batch', `${batch}`],
    ...(bytes >= hugeFrom ? ['--huge-pages'] : []),
  ]);
  return JSON.parse(stdout).nanoseconds;
}

async function awaitable(provider, bytes, { batch, iterations, warmup }) {
  const stdout = new PassThrough();
  const job = await spawnRanks({
    ranks: 2,
    command: process.execPath,
    args: [program, provider, ...[bytes, iterations, warmup, batch].map(String), ...cores],
    pin: 'none',
    stdout,
  });
  const printed = text(stdout);
  const { ok, failure } = await job.done;
  stdout.end();
  if (!ok) throw new Error(`the awaitable ping-pong failed: ${JSON.stringify(failure)}`);
  return JSON.parse(await printed);
}

const cores = values.cores.split(',');

async function compare(provider, bytes) {
  const amount = amountFor(provider, bytes);
  const times = await inTurns(Number(values.rounds), {
    c: async () => (await inC(provider, bytes, amount)).median,
    weft: async () => (await awaitable(provider, bytes, amount)).median,
  });
  const label = `${provider.padEnd(8)} ${String(bytes).padStart(8)}`;
  return report(label, times.weft, times.c, targets[bytes]);
}

const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
console.log(`half a round trip, µs; ${values.rounds} rounds in turns; load before: ${load}`);
console.log(`provider    bytes    ${heading}`);
let met = true;
for (const provider of values.providers.split(',')) {
  for (const bytes of values.sizes.split(',').map(Number)) {
    met = (await compare(provider, bytes)) && met;
  }
}
process.exitCode = met ? 0 : 1;
