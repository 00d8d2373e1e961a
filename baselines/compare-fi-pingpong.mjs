// Is our C loop a fair yardstick? Alternates it with libfabric's own fi_pingpong (package libfabric-bin), both
// pinned to the same two cores, and prints the ratio of the median times: at most 1.05, or it is no baseline.
//   node baselines/compare-fi-pingpong.mjs [--rounds 9] [--providers shm,tcp] [--sizes 8,1024] [--cores 0,1]
//
// fi_pingpong gives one mean per run: total time by twice the iterations, each a message there and one back, with
// injected sends where they fit. Means of our run over the same number of iterations stand beside it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { buildBaseline } from './build.mjs';

const limit = 1.05;
const controlPort = 47_600;
const runFile = promisify(execFile);
// What fi_pingpong opens when asked for `tcp`; libfabric 2 has a tcp of its own.
const nameInFabric = { tcp: process.env.WEFT_TCP_PROVIDER ?? 'tcp;ofi_rxm' };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    providers: { type: 'string', default: 'shm,tcp' },
    sizes: { type: 'string', default: '8,1024,65536,1048576,16777216' },
    cores: { type: 'string', default: '0,1' },
  },
});
const rounds = Number(values.rounds);
const cores = values.cores.split(',');
const sizes = values.sizes.split(',').map(Number);
const program = buildBaseline('fabric-pingpong');

/** About a third of a second's worth. */
const iterationsFor = (provider, bytes) =>
  Math.max(20, Math.round(3e8 / ((provider === 'shm' ? 800 : 12_000) + bytes * 0.4)));

async function ours(provider, bytes, iterations) {
  const batch = Math.max(1, Math.floor(iterations / 100));
  const { stdout } = await runFile(program, [
    ...['--provider', nameInFabric[provider] ?? provider, '--op', 'sendrecv', '--size', `${bytes}`],
    ...['--iterations', `${iterations}`, '--warmup', '10', '--batch', `${batch}`],
    ...['--cores', values.cores],
  ]);
  return JSON.parse(stdout).nanoseconds.mean;
}

async function theirs(provider, bytes, iterations) {
  const common = [
    'fi_pingpong',
    '-p',
    provider,
    '-e',
    'rdm',
    '-I',
    `${iterations}`,
    '-S',
    `${bytes}`,
  ];
  const server = spawn('taskset', ['-c', cores[1], ...common, '-B', `${controlPort}`], {
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  try {
    await sleep(150);
    const client = ['-c', cores[0], ...common, '-P', `${controlPort}`, '127.0.0.1'];
    const { stdout } = await runFile('taskset', client, { timeout: 60_000 });
    const microseconds = Number(stdout.trim().split('\n').at(-1).trim().split(/\s+/)[6]);
    if (!(microseconds > 0)) throw new Error(`fi_pingpong said:\n${stdout}`);
    return microseconds * 1000;
  } finally {
    const late = setTimeout(() => server.kill('SIGKILL'), 2000);
    await ended;
    clearTimeout(late);
  }
}

const sorted = (list) => [...list].sort((a, b) => a - b);
const median = (list) => sorted(list)[Math.floor(list.length / 2)];
const least = (list) => Math.min(...list);
const shown = (ns) =>
  (ns < 1e5 ? `${(ns / 1000).toFixed(2)} us` : `${(ns / 1e6).toFixed(3)} ms`).padStart(10);

async function compare(provider, bytes) {
  const iterations = iterationsFor(provider, bytes);
  const a = [];
  const b = [];
  for (let round = 0; round < rounds; round++) {
    const runs = [
      async () => a.push(await ours(provider, bytes, iterations)),
      async () => b.push(await theirs(provider, bytes, iterations)),
    ];
    for (const run of round % 2 === 0 ? runs : runs.reverse()) await run();
  }
  const ratio = median(a) / median(b);
  const spread = (list) =>
    `${(100 * (sorted(list).at(-1) / least(list) - 1)).toFixed(0)} %`.padStart(6);
  console.log(
    `${provider.padEnd(8)} ${String(bytes).padStart(9)} ${shown(median(a))} ${spread(a)} ${shown(median(b))} ${spread(b)}` +
      `   ${ratio.toFixed(3)}   ${(least(a) / least(b)).toFixed(3)}   ${ratio <= limit ? 'ok' : 'SLOWER'}`,
  );
  return ratio <= limit;
}

console.log(
  `load before: ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0]}, ${rounds} rounds`,
);
console.log('provider     bytes       ours spread  fi_pingpong spread   median  best');
let good = true;
for (const provider of values.providers.split(',')) {
  for (const bytes of sizes) good = (await compare(provider, bytes)) && good;
}
process.exitCode = good ? 0 : 1;
