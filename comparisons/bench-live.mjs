// Is the page quick, and is it cheap? (a) The first list of a folder of 200 runs with 10,000 rows, read by a server that
// has just started: below 1 s. (b) A measurement with --live and one viewer that follows it to the end: at most 0.05
// CPU seconds of the server per row. Exits with 1 where either is missed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { figuresOf, oneToEachBytes } from '../dist/measure/figures.js';
import { measuredRow } from '../dist/results/rows.js';

const bin = resolve(import.meta.dirname, '../bin/weft');
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-live-'));
const runs = 200;
const rowsPerRun = 50;
const samplesPerRow = 400;
const mostListMs = 1000;
const mostCpuSecondsPerRow = 0.05;

function header(index) {
  const startedAt = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
  return {
    schema: 'weft.run/1',
    id: `run-${String(index).padStart(4, '0')}`,
    benchmark: 'write',
    startedAt,
    world: { ranks: 2, hosts: ['a', 'b'], launcher: 'local' },
    fabric: { library: 'libfabric', version: '1', provider: 'tcp', channels: [] },
    settings: {},
  };
}

function row(index) {
  const bytes = 64 * (index + 1);
  const samples = Array.from({ length: samplesPerRow }, (_, i) => 50_000 + ((i * 7919) % 1000));
  const figures = figuresOf({ bytes: oneToEachBytes(bytes), meanNanoseconds: 50_500 });
  const checked = { bytes, wrong: 0 };
  return measuredRow({ column: 'SinglePin', bytes, samples, figures, checked });
}

function fill() {
  const rows = Array.from({ length: rowsPerRun }, (_, i) => row(i));
  const footer = { endedAt: new Date().toISOString(), outcome: 'passed', errors: [] };
  const body = [...rows.map((each) => ({ line: 'row', ...each })), { line: 'footer', ...footer }];
  const text = body.map((line) => `${JSON.stringify(line)}\n`).join('');
  for (let i = 0; i < runs; i++) {
    const first = { line: 'header', ...header(i) };
    // In one piece: a run file that grows is flushed to disk row by row.
    writeFileSync(join(folder, `${first.id}.jsonl`), `${JSON.stringify(first)}\n${text}`);
  }
}

/** A command of weft, and what it prints; `said` resolves with the first match. */
function start(args, cwd) {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece) => {
      text += piece;
    });
  }
  const closed = once(child, 'close');
  const said = async (pattern) => {
    while (!pattern.test(text)) {
      if (child.exitCode !== null) throw new Error(`weft ${args[0]} ended: ${text}`);
      await sleep(5);
    }
    return pattern.exec(text)[1];
  };
  return { child, closed, said, text: () => text };
}

const bearer = (address) => ({
  headers: { authorization: `Bearer ${address.searchParams.get('token')}` },
});

async function firstListMs() {
  const server = start(['serve', folder], folder);
  const address = new URL(await server.said(/(http:\S+)\n/));
  const begun = performance.now();
  const response = await fetch(`${address.origin}/api/runs`, bearer(address));
  const list = await response.json();
  const ms = performance.now() - begun;
  server.child.kill('SIGTERM');
  await server.closed;
  const rows = list.runs.reduce((sum, run) => sum + run.rows, 0);
  if (rows !== runs * rowsPerRun) throw new Error(`the list has ${rows} rows`);
  return ms;
}

async function cpuSecondsPerRow() {
  const cwd = mkdtempSync(join(folder, 'measured-'));
  const line =
    'write --live --provider shm -b 4K -e 4M -f 4 --budget-ms 500 --columns SinglePin,MultiPin';
  const run = start(line.split(' '), cwd);
  const address = new URL(await run.said(/live at (\S+)\n/));
  const results = join(cwd, 'weft-results');
  const runFile = () => readdirSync(results).find((name) => name.endsWith('.jsonl'));
  while (runFile() === undefined) await sleep(10);
  const key = runFile().replace('.jsonl', '');
  const events = await fetch(`${address.origin}/api/runs/${key}/events`, bearer(address));
  if (!(await events.text()).includes('event: end')) throw new Error('the run was not followed');
  await run.closed;
  const [, perRow] = /([\d.]+) CPU seconds per row/.exec(run.text()) ?? [];
  if (perRow === undefined) throw new Error(`no cost was told: ${run.text()}`);
  return Number(perRow);
}

try {
  fill();
  const listMs = await firstListMs();
  const perRow = await cpuSecondsPerRow();
  console.log(
    `first list of ${runs} runs with ${runs * rowsPerRun} rows: ${listMs.toFixed(0)} ms (target below ${mostListMs})`,
  );
  console.log(`following: ${perRow} CPU seconds per row (target at most ${mostCpuSecondsPerRow})`);
  process.exitCode = listMs < mostListMs && perRow <= mostCpuSecondsPerRow ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
