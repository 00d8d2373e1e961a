// Staged DMA columns against what holds them back: the slower of the Pin column of the same run and the copy between
// host and GPU, measured in the same rounds. Exits with 1 when a target is missed, with 3 where there is no GPU.
//   npm run bench:staged -- [--rounds 5] [--sizes 16M,64M,256M] [--benchmarks sendrecv,write,all2all]
//     [--provider shm] [--ranks 2] [--channels 2] [--chunk 2M] [--gpu 0]
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { gpuAvailability, HostBuffer, openGpu } from '../dist/index.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '16M,64M,256M' },
    benchmarks: { type: 'string', default: 'sendrecv,write,all2all' },
    provider: { type: 'string', default: 'shm' },
    ranks: { type: 'string', default: '2' },
    channels: { type: 'string', default: '2' },
    chunk: { type: 'string' },
    'budget-ms': { type: 'string', default: '500' },
    gpu: { type: 'string', default: '0' },
  },
});
const availability = gpuAvailability();
if ('reason' in availability) {
  console.error(`no GPU: ${availability.reason.message}`);
  process.exit(3);
}
const target = 0.8;
const runFile = promisify(execFile);
const weft = fileURLToPath(new URL('../bin/weft', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-'));
const copyBytes = 256 * 2 ** 20;
const copyRepeats = 10;
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
/** A round trip's figure counts the size once, though it goes there and back. */
const waysOf = (benchmark) => (benchmark === 'sendrecv' ? 2 : 1);

/** The slower direction, in Gbps. */
async function copyGbps() {
  // The GPU first: pinned memory that is made while it is in use is known to CUDA.
  const device = openGpu(Number(values.gpu)).allocate(copyBytes);
  const host = new HostBuffer(copyBytes, { memory: 'pinned' });
  try {
    const rates = [];
    for (const work of ['copyToHost', 'copyToDevice']) {
      const ms = await device.native.time(work, copyBytes, copyRepeats, 0, 0, host.native);
      rates.push((copyBytes * 8) / ms / 1e6);
    }
    return Math.min(...rates);
  } finally {
    device.close();
    host.close();
  }
}

async function rowsOf(benchmark, size) {
  const args = [
    ...[benchmark, '--provider', values.provider, '--ranks', values.ranks],
    ...['--channels', values.channels, '-b', size, '-e', size],
    ...['--budget-ms', values['budget-ms'], ...(values.chunk ? ['--chunk', values.chunk] : [])],
  ];
  const options = { cwd: folder, timeout: 300_000, maxBuffer: 2 ** 28 };
  const { stdout } = await runFile(process.execPath, [weft, ...args, '--format', 'json'], options);
  const rows = JSON.parse(stdout).rows;
  const bad = rows.find((row) => row.outcome !== 'passed');
  if (bad) throw new Error(`${benchmark} ${bad.column}: ${bad.reason}`);
  return new Map(rows.map((row) => [row.column, row]));
}

/** False when a column missed the target. */
function judge(benchmark, size, runs, copies) {
  const ways = waysOf(benchmark);
  const rate = (column) => median(runs.map((rows) => rows.get(column).lineGbps)) * ways;
  const strategies = [...runs[0].keys()].flatMap((name) => /^(\w+)DMA$/.exec(name)?.[1] ?? []);
  const copy = median(copies);
  let met = true;
  for (const strategy of strategies) {
    const [dma, pin] = [rate(`${strategy}DMA`), rate(`${strategy}Pin`)];
    const share = dma / Math.min(pin, copy);
    met &&= share >= target;
    const cells = [dma, pin, copy].map((gbps) => gbps.toFixed(1).padStart(9)).join(' ');
    const { memory } = runs[0].get(`${strategy}DMA`).labels;
    const verdict = share >= target ? 'met' : 'MISSED';
    console.log(
      `${benchmark.padEnd(9)} ${strategy.padEnd(10)} ${size.padStart(5)} ${memory.padEnd(6)} ${cells}   ` +
        `${(share * 100).toFixed(1)} %   target ${target * 100} % ${verdict}`,
    );
  }
  return met;
}

console.log(`${values.rounds} rounds; Gbps one way, medians`);
console.log('benchmark strategy    size memory       DMA       Pin  host↔GPU   of the slower');
const results = [];
try {
  for (const benchmark of values.benchmarks.split(',')) {
    for (const size of values.sizes.split(',')) {
      const [runs, copies] = [[], []];
      for (let round = 0; round < Number(values.rounds); round++) {
        copies.push(await copyGbps());
        runs.push(await rowsOf(benchmark, size));
      }
      results.push(judge(benchmark, size, runs, copies));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = results.every(Boolean) ? 0 : 1;
