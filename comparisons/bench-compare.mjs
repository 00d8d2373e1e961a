// How often are two runs of the same thing called different? One command is run many times in a row; then each run is
// held against each other (single), five against the next five (apart), and five against five in turns. At most 1 in
// 100 may be called different.
//   npm run bench:compare -- [RUNS]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compareRuns } from '../dist/analysis/compare/compare.js';
import { readRun } from '../dist/results/read-run.js';

const bin = resolve(import.meta.dirname, '../bin/weft');
const folder = mkdtempSync(join(tmpdir(), 'weft-compare-'));
const count = Number(process.argv[2] ?? 40);
const commands = ['shm', 'tcp'].flatMap((provider) =>
  ['write', 'all2all'].map((benchmark) => ({ provider, benchmark })),
);
const methods = ['single', 'apart', 'in turns'];

function measure({ provider, benchmark }, index) {
  const file = join(folder, `${provider}-${benchmark}-${index}.jsonl`);
  const line = `${benchmark} --provider ${provider} -b 64K -e 4M -f 8 --budget-ms 40 --columns SinglePin,MultiPin --channels 2 --quiet --out ${file}`;
  execFileSync(process.execPath, [bin, ...line.split(' ')], { stdio: 'ignore', timeout: 120_000 });
  return readRun(file).run;
}

/** Every pair of sides that a method can make of a sequence of runs. */
const sidesOf = {
  single: (runs) => runs.flatMap((a, i) => runs.slice(i + 1).map((b) => [[a], [b]])),
  apart: (runs) => windows(runs).map((ten) => [ten.slice(0, 5), ten.slice(5)]),
  'in turns': (runs) =>
    windows(runs).map((ten) => [
      ten.filter((_, i) => i % 2 === 0),
      ten.filter((_, i) => i % 2 === 1),
    ]),
};
const windows = (runs) => runs.slice(9).map((_, i) => runs.slice(i, i + 10));

const total = Object.fromEntries(methods.map((method) => [method, { pairs: 0, different: 0 }]));
try {
  for (const command of commands) {
    const runs = Array.from({ length: count }, (_, index) => measure(command, index));
    for (const method of methods) {
      const found = sidesOf[method](runs).map(([a, b]) => compareRuns(a, b));
      if (found.some((one) => one.method !== method)) throw new Error(`not ${method}`);
      const different = found.filter(({ rows }) =>
        rows.some((row) => row.change !== 'same'),
      ).length;
      total[method].pairs += found.length;
      total[method].different += different;
      console.log(
        `${command.benchmark} ${command.provider}, ${method}: ${different} of ${found.length} called different`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const [method, { pairs, different }] of Object.entries(total)) {
  console.log(`${method}: ${different} of ${pairs} (${((100 * different) / pairs).toFixed(2)} %)`);
}
const missed = Object.values(total).some(({ pairs, different }) => different > pairs / 100);
process.exitCode = missed ? 1 : 0;
