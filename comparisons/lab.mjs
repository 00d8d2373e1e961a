// Labs for benches: builds one, runs commands of this checkout in it and removes it. Their run files go to a folder that
// ends with the process.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const runFile = promisify(execFile);
const weftPath = fileURLToPath(new URL('../bin/weft', import.meta.url));
export const folder = mkdtempSync(join(tmpdir(), 'weft-bench-lab-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
// Ctrl-C ends the command under way, and with it the work in the lab: the lab is then removed as always.
process.on('SIGINT', () => {});

/** What a command prints. */
export async function weft(...args) {
  const { stdout } = await runFile(process.execPath, [weftPath, ...args], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

/** Builds a lab, works in it and removes it. */
export async function inLab({ hosts, nics, rate }, work) {
  const name = `bench-${process.pid}`;
  await weft('lab', 'up', '--name', name, '--hosts', hosts, '--nics', nics, '--rate', rate);
  try {
    return await work(name);
  } finally {
    await weft('lab', 'down', '--name', name, '--force');
  }
}

/** Rows of a benchmark, each the round whose figure is the median. */
export async function measured(lab, count, ...args) {
  const rounds = [];
  for (let round = 0; round < count; round++) {
    const text = await weft('lab', 'run', '--name', lab, '--', ...args, '--format', 'json');
    rounds.push(JSON.parse(text).rows.filter((row) => row.samples.length > 0));
  }
  return rounds[0].map((_, index) => {
    const same = rounds.map((rows) => rows[index]).sort((a, b) => a.gbps - b.gbps);
    for (const one of same) if (one.outcome !== 'passed') throw new Error(JSON.stringify(one));
    return same[Math.floor(same.length / 2)];
  });
}
