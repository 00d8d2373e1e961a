// Runs a command of this checkout and gives its result as the object that `--format json` prints.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const bin = resolve(import.meta.dirname ?? '.', '../bin/weft');

/** Ends this process with the command's exit code when it fails. */
export function weftJson(args) {
  const folder = mkdtempSync(join(tmpdir(), 'weft-bench-'));
  const out = join(folder, 'run.jsonl');
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [bin, ...args, '--format', 'json', '--quiet', '--out', out],
      { encoding: 'utf8', maxBuffer: 2 ** 30 },
    );
    if (status === 0) return JSON.parse(stdout);
    process.stderr.write(stderr);
    const failed = stdout.startsWith('{') ? JSON.parse(stdout).rows : [];
    for (const row of failed)
      if (row.reason) process.stderr.write(`${row.column}: ${row.reason}\n`);
    process.exit(status ?? 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
};

const units = [
  [2 ** 30, 'G'],
  [2 ** 20, 'M'],
  [2 ** 10, 'K'],
];
export const sizeText = (bytes) => {
  const unit = units.find(([size]) => bytes >= size && bytes % size === 0);
  return unit ? `${bytes / unit[0]}${unit[1]}` : String(bytes);
};
