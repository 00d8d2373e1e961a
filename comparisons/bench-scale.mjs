// What the commands that read a run file cost when `pairs` has measured among many ranks: CPU time, peak memory and wall
// time of each whole command. Exits with 1 when one fails.
//   npm run bench:scale -- [--ranks 1024] [--file FILE.jsonl] [--only report,csv]
// Without --file, it makes the run file in a folder of its own (1.5 GB for 1,024 ranks) and removes it.
import { createWriteStream, linkSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runPieces } from '../dist/results/formats/format-run.js';
import { readRun, rowsInFile } from '../dist/results/read-run.js';
import { pairsRunLines } from './pairs-run.mjs';
import { measure } from './usage.mjs';

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const self = fileURLToPath(import.meta.url);
/** What a verdict of `check` or `compare` may be. */
const fine = [0, 4];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ranks: { type: 'string', default: '1024' },
    file: { type: 'string' },
    only: { type: 'string' },
  },
});
// What a benchmark does when its rows are on disk.
if (positionals[0] === 'print') await printRun(positionals[1], positionals[2]);
else await main();

async function main() {
  // Commands get links to the file, which must be on the same disk.
  const near = values.file === undefined ? tmpdir() : dirname(values.file);
  const folder = mkdtempSync(join(near, 'weft-scale-'));
  try {
    const file = values.file ?? join(folder, 'pairs.jsonl');
    if (values.file === undefined) await makeRun(file, Number(values.ranks));
    console.log(`${(statSync(file).size / 1e6).toFixed(0)} MB`);
    console.log('| command | CPU, s | peak memory, MB | wall time, s |\n| --- | --- | --- | --- |');
    await measureAll(folder, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureAll(folder, file) {
  const only = values.only?.split(',');
  for (const [name, words, until] of commandsOf(folder, file)) {
    if (only !== undefined && !only.some((word) => name.includes(word))) continue;
    const { code, cpu, megabytes, seconds } = await measure(words, until);
    const figures = [cpu.toFixed(1), megabytes.toFixed(0), seconds.toFixed(0)];
    console.log(`| ${name} | ${figures.join(' | ')} |`);
    if (!fine.includes(code)) {
      console.log(`${name} ended with ${code}`);
      process.exitCode = 1;
    }
  }
}

/** Each folder begins without an index, which the first command that needs one writes. */
function* commandsOf(folder, file) {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => {
    mkdirSync(join(folder, name));
    linkSync(file, join(folder, name, 'pairs.jsonl'));
    return join(folder, name);
  });
  const [runA, runB] = [a, b].map((own) => join(own, 'pairs.jsonl'));
  const weft = (...words) => [program, ...words];
  const print = (format) => [self, 'print', format, runA];
  yield ['`weft report`', weft('report', runA, '-o', join(folder, 'x.html'))];
  yield ['`weft plot`', weft('plot', runA, '-o', join(folder, 'x.svg'))];
  yield ['`weft check --run`', weft('check', '--run', runA)];
  yield ['`weft compare`, no index yet', weft('compare', runA, runB)];
  yield ['`weft compare`', weft('compare', runA, runB)];
  yield ['`weft history`, no index yet', weft('history', b)];
  yield ['`weft history`', weft('history', b)];
  yield ['`weft serve`, until the run is sent', weft('serve', c), pageAnswers];
  yield ['reading and `--format table`', print('table')];
  yield ['reading and `--format csv`', print('csv')];
  yield ['reading and `--format json`', print('json')];
}

async function makeRun(file, ranks) {
  await pipeline(pairsRunLines({ ranks }), createWriteStream(file));
}

async function printRun(format, path) {
  const { run } = readRun(path);
  const pieces = runPieces(run, format, { rows: rowsInFile(path) });
  await pipeline(pieces, process.stdout, { end: false });
}

/** Resolves when the server has listed the folder and sent every row of its run. */
async function pageAnswers(child) {
  const address = await new Promise((resolve) => {
    child.stdout.once('data', (text) => resolve(new URL(String(text).trim())));
  });
  const headers = { authorization: `Bearer ${address.searchParams.get('token')}` };
  const { runs } = await (await fetch(`${address.origin}/api/runs`, { headers })).json();
  const events = await fetch(`${address.origin}/api/runs/${runs[0].key}/events`, { headers });
  // The end of the stream is the end of the run.
  let tail = '';
  for await (const piece of events.body) tail = (tail + Buffer.from(piece)).slice(-1000);
  if (!tail.includes('event: end')) throw new Error(`the run was not sent: ${tail}`);
}
