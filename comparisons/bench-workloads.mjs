// Collectives, an all-to-all of unequal sizes and an expert layer against Open MPI and gloo, each in turns inside one
// job; messages per second and both directions at once against plain C over the same libfabric, in turns, job by job.
// A row has `--rounds` rounds, and more, up to `--most-rounds`, while the interval of its ratio contains the target. Exits
// with 1 unless every ratio is at most its target.
//   npm run bench:workloads -- [--rounds 7] [--most-rounds 31] [--parts collectives,alltoallv,moe,rate,bidir]
//     [--providers shm,tcp] [--ranks 4] [--collectives all2all,allreduce,allgather,reduce-scatter] [--channels 1,4]
//     [--budget-ms 200] [--tokens 128,1024,4096] [--against mpi,gloo] [--sizes 65536,…]
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs, promisify } from 'node:util';
import { loadLibrary } from '../dist/fabric/library.js';
import { providerName } from '../dist/fabric/providers.js';
import { allowedCores } from '../dist/native/process.js';
import { preferredPacing } from '../dist/session/pacing.js';
import { buildProgram } from './build.mjs';
import { median, untilClear, verdictText } from './turns.mjs';
import { sizeText, weftJson } from './weft-json.mjs';

const [K, M] = [2 ** 10, 2 ** 20];
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    'most-rounds': { type: 'string', default: '31' },
    parts: { type: 'string', default: 'collectives,alltoallv,moe,rate,bidir' },
    collectives: { type: 'string', default: 'all2all,allreduce,allgather,reduce-scatter' },
    against: { type: 'string', default: 'mpi,gloo' },
    channels: { type: 'string', default: '1,4' },
    providers: { type: 'string', default: 'shm,tcp' },
    ranks: { type: 'string', default: '4' },
    /** Bytes per peer of collectives. */
    sizes: { type: 'string', default: [64 * K, 256 * K, M, 4 * M, 16 * M].join(',') },
    tokens: { type: 'string', default: '128,1024,4096' },
    'budget-ms': { type: 'string', default: '200' },
  },
});
const list = (option) => values[option].split(',');
const amount = { fewest: Number(values.rounds), most: Number(values['most-rounds']) };
const ranks = Number(values.ranks);
const budget = ['--budget-ms', values['budget-ms']];
const sizes = list('sizes').map(Number);
const peers = list('against');
const runFile = promisify(execFile);

/**
 * With a channel for each sender, a rank that copies holds only that sender's queue: over shm of libfabric 1.17, the
 * others would wait for its lock.
 */
const channelPerPeer = { column: 'RoundRobinPin', channels: ranks };

/** Weft's time over the library's. */
const targets = { mpi: 1.0, gloo: 0.5 };
const collectives = {
  // Its sizes are bytes per peer; those of the others are bytes in all.
  all2all: { against: ['mpi', 'gloo'], share: 1, ...channelPerPeer },
  allreduce: { against: ['mpi', 'gloo'], share: ranks, ...channelPerPeer },
  allgather: { against: ['mpi', 'gloo'], share: ranks, column: 'MultiPin', channels: 2 },
  'reduce-scatter': { against: ['mpi'], share: ranks, ...channelPerPeer },
};

/** The rows of one job, all of which must have passed. */
function rowsOf(words) {
  const { rows } = weftJson(words);
  const other = rows.find((row) => row.outcome !== 'passed');
  if (other) throw new Error(`${other.column} is ${other.outcome}: ${other.reason}`);
  return rows;
}

/** In each job Weft and the library take turns, round by round, and the job gives the ratio of the two. */
async function collective(id, peer, bytes) {
  const { share, column, channels } = collectives[id];
  const size = sizeText(bytes * share);
  const words = [id, '--ranks', `${ranks}`, '--against', peer, '-b', size, '-e', size];
  const found = await untilClear({ ...amount, target: targets[peer] }, () => {
    const rows = rowsOf([...words, '--columns', column, '--channels', `${channels}`, ...budget]);
    return [rows.find((row) => row.column === peer).against.ratios[0].ratio, 1];
  });
  return told(`${id.padEnd(14)} ${peer.padEnd(5)} ${sizeText(bytes).padStart(5)} per peer`, found);
}

/**
 * Of what a rank sends, with 4 ranks, they get 53, 23, 14 and 10 %. The libraries take turns after each exchange. Weft has
 * a channel for each sender: see `channelPerPeer`.
 */
async function unequal(peer, bytes) {
  const iterations = Math.max(11, Math.min(201, Math.round((512 * M) / bytes)));
  const found = await untilClear({ ...amount, target: targets[peer] }, () => {
    const rows = rowsOf([
      ...['all-to-all-single', '--ranks', `${ranks}`, '--imbalance', 'zipf:1.2'],
      ...['--msg-bytes', `${bytes}`, '--iters', `${iterations}`, '--backend', `fabric,${peer}`],
      ...['--strategy', 'round-robin', '--channels', `${ranks}`],
    ]);
    return ['fabric', peer].map((name) => rows.find((row) => row.column === name).nanoseconds.p50);
  });
  return told(`alltoallv      ${peer.padEnd(5)} ${sizeText(bytes).padStart(5)} per peer`, found);
}

/** With packing or sums in the library's time, and with its call alone. There is no target. */
function expertLayer() {
  const columns = ['--columns', 'DispatchMultiPin,CombineMultiPin'];
  const words = ['moe', '--ranks', `${ranks}`, '--against', peers.join(','), ...columns];
  const job = () => rowsOf([...words, '--tokens', values.tokens, ...budget]);
  const rows = Array.from({ length: amount.fewest }, job)
    .flat()
    .filter((row) => peers.some((peer) => row.column.endsWith(`-${peer}`)));
  const keys = [...new Set(rows.map(({ column, bytes }) => `${column} ${bytes}`))];
  for (const key of keys) {
    const own = rows.filter(({ column, bytes }) => `${column} ${bytes}` === key);
    const found = own.map(({ against }) => against.ratios[0]);
    const whole = rangeText(found.map(({ ratio }) => ratio));
    const alone = rangeText(found.map(({ callAlone }) => callAlone.ratio));
    const { column, routing } = own[0];
    const tokens = `${routing.tokens[0]}`.padStart(5);
    console.log(`moe ${column.padEnd(13)} ${tokens} tokens   ${whole}   ${alone}`);
  }
}

/** The median and the range. */
const rangeText = (ratios) => {
  const range = `${Math.min(...ratios).toFixed(2)} … ${Math.max(...ratios).toFixed(2)}`;
  return `${median(ratios).toFixed(3)}x (${range})`.padEnd(23);
};

/** The last line of what a C program prints. */
async function cProgram(name, args) {
  const { stdout } = await runFile(buildProgram(name), args, { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trim().split('\n').at(-1)).nanoseconds.median;
}

const over = (provider) => providerName(provider, loadLibrary());
/** From here on Weft's buffers lie on huge pages: then those of the C loop do, too. */
const hugeFrom = M;
/** Those that Weft pins its two ranks to, where only two are allowed. */
const cores = ['--cores', allowedCores().slice(0, 2).join(',')];

/** Bandwidth of at least 0.97 of C's: a time of at most 1 / 0.97 of its. */
async function bothWays(provider, bytes) {
  const name = over(provider);
  const { chunkBytes, window } = preferredPacing(name);
  const iterations = Math.max(20, Math.min(2000, Math.round((256 * M) / bytes)));
  const pacing = ['--chunk', `${Math.min(bytes, chunkBytes)}`, '--window', `${window}`];
  const times = ['--iterations', `${iterations}`, '--warmup', `${Math.ceil(iterations / 5)}`];
  const huge = bytes >= hugeFrom ? ['--huge-pages'] : [];
  const c = ['--provider', name, '--size', `${bytes}`, ...cores, ...pacing, ...times, ...huge];
  const words = ['bidir', '--provider', provider, '-b', `${bytes}`, '-e', `${bytes}`];
  const found = await untilClear({ ...amount, target: round3(1 / 0.97) }, async () => {
    const theirs = await cProgram('fabric-bidir', c);
    const [row] = rowsOf([...words, '--columns', 'SinglePin', ...budget]);
    return [row.nanoseconds.p50, theirs];
  });
  return toldOfTimes(`bidir ${provider.padEnd(4)} ${sizeText(bytes).padStart(5)}     `, found);
}

const round3 = (value) => Math.round(value * 1000) / 1000;

/** At least 0.95 of C's messages per second: as many per sample and in flight, over as many channels. */
async function messageRate(provider, bytes, channels) {
  const size = ['-b', `${bytes}`, '-e', `${bytes}`, '--channels', `${channels}`];
  const column = channels === 1 ? 'SinglePin' : 'MultiPin';
  const words = ['rate', '--provider', provider, ...size, '--columns', column, ...budget];
  const { window, own } = weftJson(words).settings;
  const { messages } = own;
  const times = ['--messages', `${messages}`, '--samples', `${Math.ceil(4e5 / messages)}`];
  const pacing = ['--window', `${window}`, '--channels', `${channels}`, ...cores];
  const huge = messages * bytes >= hugeFrom ? ['--huge-pages'] : [];
  const c = ['--provider', over(provider), '--size', `${bytes}`, ...pacing, ...times, ...huge];
  const found = await untilClear({ ...amount, target: round3(1 / 0.95) }, async () => {
    const theirs = await cProgram('fabric-rate', c);
    const [row] = rowsOf(words);
    return [row.nanoseconds.p50 / messages, theirs / messages];
  });
  const label = `rate  ${provider.padEnd(4)} ${sizeText(bytes).padStart(5)} ${channels} ch`;
  return toldOfTimes(label, found);
}

function told(label, found) {
  console.log(`${label}   ${verdictText(found)}`);
  return found.verdict;
}

const toldOfTimes = (label, found) => {
  const [theirs, ours] = [found.theirs, found.ours].map((times) => median(times) / 1000);
  return told(`${label} ${theirs.toFixed(2).padStart(10)} ${ours.toFixed(2).padStart(10)}`, found);
};

const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
console.log(`${amount.fewest} to ${amount.most} rounds per row; load before: ${load}`);
const verdicts = [];
const parts = list('parts');
if (parts.includes('collectives')) {
  console.log('\nWeft’s time over the library’s: median of the jobs (95 % interval)');
  for (const id of list('collectives')) {
    for (const peer of collectives[id].against.filter((one) => peers.includes(one)))
      for (const bytes of sizes) verdicts.push(await collective(id, peer, bytes));
  }
}
if (parts.includes('alltoallv')) {
  console.log('\nUnequal sizes (zipf:1.2); bytes are the mean per peer');
  for (const peer of peers) for (const bytes of sizes) verdicts.push(await unequal(peer, bytes));
}
if (parts.includes('moe')) {
  console.log(
    '\nAn expert layer, tokens per rank: Weft’s time over the library’s with packing or sums, over its call alone',
  );
  expertLayer();
}
const heading = 'C µs    Weft µs   median of the rounds’ ratios (95 % interval)';
if (parts.includes('rate')) {
  console.log(`\nTime of a message           ${heading}`);
  for (const provider of list('providers'))
    for (const channels of list('channels').map(Number))
      for (const bytes of [8, 64, 512, 4 * K])
        verdicts.push(await messageRate(provider, bytes, channels));
}
if (parts.includes('bidir')) {
  console.log(`\nBoth directions at once     ${heading}`);
  for (const provider of list('providers'))
    for (const bytes of [64 * K, M, 16 * M]) verdicts.push(await bothWays(provider, bytes));
}
const counted = (verdict) => verdicts.filter((one) => one === verdict).length;
console.log(
  `\n${counted('met')} of ${verdicts.length} targets met, ${counted('unclear')} unclear, ${counted('MISSED')} missed`,
);
process.exitCode = counted('met') === verdicts.length ? 0 : 1;
