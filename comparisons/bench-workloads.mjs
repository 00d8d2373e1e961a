// Collectives, an all-to-all of unequal sizes and an expert layer against Open MPI and gloo, each in turns inside one
// job; messages per second and both directions at once against plain C over the same libfabric, in turns, job by job.
// Prints medians over the jobs with their range, and exits with 1 when a target is missed.
//   npm run bench:workloads -- [--rounds 7] [--parts collectives,alltoallv,moe,rate,bidir] [--providers shm,tcp]
//     [--ranks 4] [--collectives all2all,allreduce,allgather,reduce-scatter] [--channels 1,4] [--budget-ms 500]
//     [--tokens 128,1024,4096]
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs, promisify } from 'node:util';
import { loadLibrary } from '../dist/fabric/library.js';
import { providerName } from '../dist/fabric/providers.js';
import { preferredPacing } from '../dist/session/pacing.js';
import { buildProgram } from './build.mjs';
import { headingOfMedians, inTurns, median, report } from './turns.mjs';
import { sizeText, weftJson } from './weft-json.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    parts: { type: 'string', default: 'collectives,alltoallv,moe,rate,bidir' },
    collectives: { type: 'string', default: 'all2all,allreduce,allgather,reduce-scatter' },
    channels: { type: 'string', default: '1,4' },
    providers: { type: 'string', default: 'shm,tcp' },
    ranks: { type: 'string', default: '4' },
    tokens: { type: 'string', default: '128,1024,4096' },
    'budget-ms': { type: 'string', default: '500' },
  },
});
const rounds = Number(values.rounds);
const ranks = Number(values.ranks);
const budget = ['--budget-ms', values['budget-ms']];
const runFile = promisify(execFile);
const [K, M] = [2 ** 10, 2 ** 20];

/** Weft's time over the library's; bytes per peer from 64 KiB to 16 MiB. */
const targets = { mpi: 1.0, gloo: 0.5 };
const perPeer = [64 * K, 16 * M];
const collectives = {
  // Its sizes are bytes per peer; those of the others are bytes in all.
  all2all: { against: ['mpi', 'gloo'], share: 1 },
  allreduce: { against: ['mpi', 'gloo'], share: ranks },
  allgather: { against: ['mpi', 'gloo'], share: ranks },
  'reduce-scatter': { against: ['mpi'], share: ranks },
};

/** Each job gives a ratio for every size and library; the median of the jobs is held against the target. */
function collective(id, { against, share }) {
  const [from, to] = perPeer.map((bytes) => sizeText(bytes * share));
  const words = [id, '--ranks', `${ranks}`, '--against', against.join(',')];
  const sizes = ['-b', from, '-e', to, '-f', '4', '--columns', 'SinglePin', ...budget];
  const jobs = Array.from({ length: rounds }, () => weftJson([...words, ...sizes]).rows);
  const rows = jobs.flat().filter((row) => against.includes(row.column));
  const skipped = rows.find((row) => row.outcome !== 'passed');
  if (skipped) throw new Error(`${skipped.column} is ${skipped.outcome}: ${skipped.reason}`);
  const keys = [...new Set(rows.map((row) => `${row.column} ${row.bytes}`))];
  return keys
    .map((key) => {
      const own = rows.filter((row) => `${row.column} ${row.bytes}` === key);
      const ratios = own.map((row) => row.against.ratios[0].ratio);
      return held(id, own[0].column, own[0].bytes / share, ratios);
    })
    .every(Boolean);
}

/** Prints the median of Weft's times over the library's; false when it is above the target. */
function held(id, peer, bytes, ratios) {
  const met = median(ratios) <= targets[peer];
  console.log(
    `${id.padEnd(14)} ${peer.padEnd(5)} ${sizeText(bytes).padStart(5)} per peer   ` +
      `${ratioText(ratios)}   target ${targets[peer]}x ${met ? 'met' : 'MISSED'}`,
  );
  return met;
}

/** Of what a rank sends, with 4 ranks, they get 53, 23, 14 and 10 %. The libraries take turns after each exchange. */
function unequal(bytes) {
  const peers = ['mpi', 'gloo'];
  const iterations = Math.max(11, Math.min(201, Math.round((512 * M) / bytes)));
  const job = () => {
    const { rows } = weftJson([
      ...['all-to-all-single', '--ranks', `${ranks}`, '--imbalance', 'zipf:1.2'],
      ...['--msg-bytes', `${bytes}`, '--iters', `${iterations}`],
      ...['--backend', ['fabric', ...peers].join(',')],
    ]);
    const skipped = rows.find((row) => row.outcome !== 'passed');
    if (skipped) throw new Error(`${skipped.column} is ${skipped.outcome}: ${skipped.reason}`);
    return Object.fromEntries(rows.map((row) => [row.column, row.nanoseconds.p50]));
  };
  const jobs = Array.from({ length: rounds }, job);
  return peers
    .map((peer) =>
      held(
        'alltoallv',
        peer,
        bytes,
        jobs.map((one) => one.fabric / one[peer]),
      ),
    )
    .every(Boolean);
}

/** With packing or sums in the library's time, and with its call alone. There is no target. */
function expertLayer() {
  const peers = ['mpi', 'gloo'];
  const columns = ['--columns', 'DispatchMultiPin,CombineMultiPin'];
  const words = ['moe', '--ranks', `${ranks}`, '--against', peers.join(','), ...columns];
  const job = () => weftJson([...words, '--tokens', values.tokens, ...budget]).rows;
  const rows = Array.from({ length: rounds }, job)
    .flat()
    .filter((row) => peers.some((peer) => row.column.endsWith(`-${peer}`)));
  const skipped = rows.find((row) => row.outcome !== 'passed');
  if (skipped) throw new Error(`${skipped.column} is ${skipped.outcome}: ${skipped.reason}`);
  const keys = [...new Set(rows.map(({ column, bytes }) => `${column} ${bytes}`))];
  for (const key of keys) {
    const own = rows.filter(({ column, bytes }) => `${column} ${bytes}` === key);
    const found = own.map(({ against }) => against.ratios[0]);
    const whole = ratioText(found.map(({ ratio }) => ratio));
    const alone = ratioText(found.map(({ callAlone }) => callAlone.ratio));
    const { column, routing } = own[0];
    const tokens = `${routing.tokens[0]}`.padStart(5);
    console.log(`moe ${column.padEnd(13)} ${tokens} tokens   ${whole}   ${alone}`);
  }
}

/** The median and the range. */
const ratioText = (ratios) => {
  const range = `${Math.min(...ratios).toFixed(2)}…${Math.max(...ratios).toFixed(2)}`;
  return `${median(ratios).toFixed(3)}x (${range})`.padEnd(21);
};

/** The last line of what a C program prints. */
async function cProgram(name, args) {
  const { stdout } = await runFile(buildProgram(name), args, { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trim().split('\n').at(-1)).nanoseconds.median;
}

const weftMedian = (args) =>
  weftJson([...args, '--columns', 'SinglePin', ...budget]).rows[0].nanoseconds.p50;

const over = (provider) => providerName(provider, loadLibrary());
/** From here on Weft's buffers lie on huge pages: then those of the C loop do, too. */
const hugeFrom = M;

/** Bandwidth of at least 0.97 of C's: a time of at most 1 / 0.97 of its. */
async function bothWays(provider, bytes) {
  const name = over(provider);
  const { chunkBytes, window } = preferredPacing(name);
  const iterations = Math.max(20, Math.min(2000, Math.round((256 * M) / bytes)));
  const pacing = ['--chunk', `${Math.min(bytes, chunkBytes)}`, '--window', `${window}`];
  const amount = ['--iterations', `${iterations}`, '--warmup', `${Math.ceil(iterations / 5)}`];
  const times = await inTurns(rounds, {
    c: () =>
      cProgram('fabric-bidir', [
        ...['--provider', name, '--size', `${bytes}`, '--cores', '0,1', ...pacing, ...amount],
        ...(bytes >= hugeFrom ? ['--huge-pages'] : []),
      ]),
    weft: () => weftMedian(['bidir', '--provider', provider, '-b', `${bytes}`, '-e', `${bytes}`]),
  });
  const label = `bidir ${provider.padEnd(4)} ${sizeText(bytes).padStart(5)}`;
  return report(label, times.weft, times.c, round3(1 / 0.97), median);
}

const round3 = (value) => Math.round(value * 1000) / 1000;

/** At least 0.95 of C's messages per second: as many per sample and in flight, over as many channels. */
async function messageRate(provider, bytes, channels) {
  const size = ['-b', `${bytes}`, '-e', `${bytes}`, '--channels', `${channels}`];
  const column = channels === 1 ? 'SinglePin' : 'MultiPin';
  const words = ['rate', '--provider', provider, ...size, '--columns', column, ...budget];
  const { window, own } = weftJson(words).settings;
  const { messages } = own;
  const amount = ['--messages', `${messages}`, '--samples', `${Math.ceil(4e5 / messages)}`];
  const pacing = ['--window', `${window}`, '--channels', `${channels}`, '--cores', '0,1'];
  const huge = messages * bytes >= hugeFrom ? ['--huge-pages'] : [];
  const c = ['--provider', over(provider), '--size', `${bytes}`, ...pacing, ...amount, ...huge];
  const times = await inTurns(rounds, {
    c: async () => (await cProgram('fabric-rate', c)) / messages,
    weft: () => weftJson(words).rows[0].nanoseconds.p50 / messages,
  });
  const label = `rate  ${provider.padEnd(4)} ${sizeText(bytes).padStart(5)} ${channels} ch`;
  return report(label, times.weft, times.c, round3(1 / 0.95), median);
}

console.log(
  `${rounds} jobs each; load before: ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0]}`,
);
const parts = values.parts.split(',');
const results = [];
if (parts.includes('collectives')) {
  console.log('\nWeft’s time over the library’s: median of the jobs (range)');
  for (const id of values.collectives.split(',')) results.push(collective(id, collectives[id]));
}
if (parts.includes('alltoallv')) {
  console.log('\nUnequal sizes (zipf:1.2); bytes are the mean per peer');
  for (const bytes of [64 * K, 256 * K, M, 4 * M, 16 * M]) results.push(unequal(bytes));
}
if (parts.includes('moe')) {
  console.log(
    '\nAn expert layer, tokens per rank: Weft’s time over the library’s with packing or sums, over its call alone',
  );
  expertLayer();
}
if (parts.includes('rate')) {
  console.log(`\nTime of a message                 ${headingOfMedians}`);
  for (const provider of values.providers.split(',')) {
    for (const channels of values.channels.split(',').map(Number)) {
      for (const bytes of [8, 64, 512, 4 * K])
        results.push(await messageRate(provider, bytes, channels));
    }
  }
}
if (parts.includes('bidir')) {
  console.log(`\nBoth directions at once           ${headingOfMedians}`);
  for (const provider of values.providers.split(',')) {
    for (const bytes of [64 * K, M, 16 * M]) results.push(await bothWays(provider, bytes));
  }
}
process.exitCode = results.every(Boolean) ? 0 : 1;
