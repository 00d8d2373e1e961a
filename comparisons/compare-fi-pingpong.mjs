// Is our C loop a fair yardstick? Alternates it with libfabric's own fi_pingpong (package libfabric-bin), both
// pinned to the same two cores, and prints the ratio of their times: at most 1.05, or it is no baseline.
//   node comparisons/compare-fi-pingpong.mjs [--rounds 25] [--providers shm,tcp] [--sizes 8,1024] [--cores 0,1]
//
// fi_pingpong gives one mean per run: total time by twice the iterations, each a message there and one back, with
// injected sends where they fit. Means of our run over the same number of iterations stand beside it. A mean does
// not survive a busy machine, so runs are short, each waits for idle cores, and lower quartiles are compared. Where
// other work goes on, start it as root under `chrt -f 5`.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { buildProgram } from './build.mjs';

const limit = 1.05;
const controlPort = 47_600;
const runFile = promisify(execFile);
// What fi_pingpong opens when asked for `tcp`; libfabric 2 has a tcp of its own.
const nameInFabric = { tcp: process.env.WEFT_TCP_PROVIDER ?? 'tcp;ofi_rxm' };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    providers: { type: 'string', default: 'shm,tcp' },
    sizes: { type: 'string', default: '8,1024,65536,1048576,16777216' },
    cores: { type: 'string', default: '0,1' },
  },
});
const rounds = Number(values.rounds);
const cores = values.cores.split(',');
const sizes = values.sizes.split(',').map(Number);
const program = buildProgram('fabric-pingpong');

/** About 10 ms' worth; 100 on tcp, where a connection takes its time to become fast. */
const iterationsFor = (provider, bytes) =>
  Math.max(
    10,
    Math.round(provider === 'shm' ? 1e7 / (800 + bytes * 0.4) : 1e8 / (12_000 + bytes * 0.4)),
  );

/** Resolves when the cores were idle for 50 ms, or after two seconds of asking. */
async function quiet() {
  for (let attempt = 0; attempt < 40; attempt++) {
    const before = busyTicks();
    await sleep(50);
    if (busyTicks() - before <= 1) return;
  }
}

/** Clock ticks (10 ms) that any core was not idle: user, nice, system, and after idle and iowait the interrupts. */
function busyTicks() {
  const ticks = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1).map(Number);
  const [user, nice, system, , , irq, softirq] = ticks;
  return user + nice + system + irq + softirq;
}

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
const quartile = (list) => sorted(list)[Math.floor(list.length / 4)];
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
    for (const run of round % 2 === 0 ? runs : runs.reverse()) {
      await quiet();
      await run();
    }
  }
  const ratio = quartile(a) / quartile(b);
  // Between the quartiles: how far the middle half of the rounds lies apart.
  const spread = (list) =>
    `${(100 * (sorted(list)[Math.floor((3 * list.length) / 4)] / quartile(list) - 1)).toFixed(0)} %`.padStart(
      6,
    );
  console.log(
    `${provider.padEnd(8)} ${String(bytes).padStart(9)} ${shown(quartile(a))} ${spread(a)} ${shown(quartile(b))} ${spread(b)}` +
      `   ${ratio.toFixed(3)}   ${(least(a) / least(b)).toFixed(3)}   ${ratio <= limit ? 'ok' : 'SLOWER'}`,
  );
  return ratio <= limit;
}

console.log(
  `load before: ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0]}, ${rounds} rounds`,
);
console.log('provider     bytes       ours spread  fi_pingpong spread      p25   best');
let good = true;
for (const provider of values.providers.split(',')) {
  for (const bytes of sizes) good = (await compare(provider, bytes)) && good;
}
process.exitCode = good ? 0 : 1;
