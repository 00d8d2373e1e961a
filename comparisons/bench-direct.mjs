// GPU memory to GPU memory without staging: Weft's SingleDMA column against fabtests' fi_rma_bw over the same libfabric,
// with the same sizes, window and completion (delivered), in turns in one run. Exits with 1 when a target is missed,
// with 3 where the rows would not be direct.
//   WEFT_LIBFABRIC=…/libfabric.so.1 FI_RMA_BW=…/fi_rma_bw npm run bench:direct -- [--rounds 7] [--windows 1,4]
//     [--sizes 65536,1048576,16777216,67108864] [--provider shm]
// Both need a libfabric with CUDA support; libcudart.so may lie beside it.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { heading, inTurns, report } from './turns.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    provider: { type: 'string', default: 'shm' },
    sizes: { type: 'string', default: '65536,1048576,16777216,67108864' },
    windows: { type: 'string', default: '1,4' },
    iterations: { type: 'string', default: '1000' },
    memory: { type: 'string', default: 'cuda' },
  },
});
const library = process.env.WEFT_LIBFABRIC;
const fiRmaBw = process.env.FI_RMA_BW;
if (!library || !fiRmaBw) {
  console.error('set WEFT_LIBFABRIC (a libfabric with CUDA support) and FI_RMA_BW (its fabtests)');
  process.exit(2);
}
const target = 1.1;
const iterations = Number(values.iterations);
const onGpu = values.memory === 'cuda';
const column = onGpu ? 'SingleDMA' : 'SinglePin';
const runFile = promisify(execFile);
const weft = fileURLToPath(new URL('../bin/weft', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-'));
const libraryPath = [dirname(library), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
const env = { ...process.env, LD_LIBRARY_PATH: libraryPath };
const limits = { timeout: 120_000, maxBuffer: 2 ** 26 };
let port = 20_000 + (process.pid % 20_000);

/** Nanoseconds per write; every byte of untimed writes is verified on the GPU. */
async function ours(bytes, window) {
  const args = [
    ...['write', '--provider', values.provider, '--ranks', '2', '--columns', column],
    ...['-b', `${bytes}`, '-e', `${bytes}`, '--chunk', `${bytes}`],
    ...['--buffers', `${window}`, '--window', `${window}`, '-n', `${iterations}`, '-w', '100'],
  ];
  const options = { cwd: folder, env, ...limits };
  const { stdout } = await runFile(process.execPath, [weft, ...args, '--format', 'json'], options);
  const row = JSON.parse(stdout).rows.find((one) => one.samples.length > 0);
  if (onGpu && row?.labels.memory !== 'direct') {
    console.error(`not direct: ${row?.labels.stagedBecause ?? stdout}`);
    process.exit(3);
  }
  if (row?.outcome !== 'passed' || row.checked.bytes === 0) throw new Error(stdout);
  return row.nanoseconds.mean / window;
}

/** The same of fi_rma_bw: its client writes, its server counts. */
async function theirs(bytes, window) {
  const half = Math.max(1, availableParallelism() >> 1);
  const cores = (first) => ['--pin-core', `${first}-${first + half - 1}`];
  const args = [
    ...['-p', values.provider, '-e', 'rdm', '-o', 'writedata', '-U', '-m'],
    ...(onGpu ? ['-D', 'cuda'] : []),
    ...['-S', `${bytes}`, '-I', `${iterations * window}`, '-w', `${100 * window}`],
    ...['-W', `${window}`, `-E=${++port}`],
  ];
  const server = spawn(fiRmaBw, [...args, ...cores(0)], { env, stdio: 'ignore', timeout: 120_000 });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  try {
    await sleep(300);
    const client = [...args, ...cores(half), '127.0.0.1'];
    const { stdout } = await runFile(fiRmaBw, client, { env, ...limits });
    const found = /usec\/xfer: ([\d.]+)/.exec(stdout);
    if (!found) throw new Error(`fi_rma_bw said: ${stdout}`);
    await ended;
    return Number(found[1]) * 1000;
  } finally {
    server.kill('SIGKILL');
  }
}

console.log(
  `${values.rounds} rounds in turns, ${column} against fi_rma_bw, ${iterations} iterations`,
);
console.log(`window     bytes    ${heading}`);
const results = [];
try {
  for (const window of values.windows.split(',').map(Number)) {
    for (const bytes of values.sizes.split(',').map(Number)) {
      const times = await inTurns(Number(values.rounds), {
        theirs: () => theirs(bytes, window),
        ours: () => ours(bytes, window),
      });
      const label = `${String(window).padStart(6)} ${String(bytes).padStart(9)}`;
      results.push(report(label, times.ours, times.theirs, target));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = results.every(Boolean) ? 0 : 1;
