// How often are two runs of the same thing called different? Runs of one command against each other, each pair both
// ways: single runs, and runs with repeats. Both must be at most 1 in 100.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compareRuns } from '../dist/results/compare/compare.js';
import { readRun } from '../dist/results/read-run.js';

const bin = resolve(import.meta.dirname, '../bin/weft');
const folder = mkdtempSync(join(tmpdir(), 'weft-compare-'));
const runsOf = { single: Number(process.argv[2] ?? 24), repeated: Number(process.argv[3] ?? 12) };
const commands = ['shm', 'tcp'].flatMap((provider) =>
  ['write', 'all2all'].map((benchmark) => ({ provider, benchmark })),
);

function measure({ provider, benchmark }, repeats, name) {
  const file = join(folder, `${name}.jsonl`);
  const line = `${benchmark} --provider ${provider} -b 64K -e 4M -f 8 --budget-ms 40 --columns SinglePin,MultiPin --channels 2 --repeats ${repeats} --quiet --out ${file}`;
  execFileSync(process.execPath, [bin, ...line.split(' ')], { stdio: 'ignore', timeout: 120_000 });
  return readRun(file).run;
}

/** Pairs called different, of all there are. */
function accused(runs) {
  let pairs = 0;
  let different = 0;
  for (const [i, a] of runs.entries()) {
    for (const b of runs.slice(i + 1)) {
      pairs += 1;
      const { rows } = compareRuns([a], [b]);
      if (rows.some((row) => row.change !== 'same')) different += 1;
    }
  }
  return { pairs, different };
}

const total = { single: { pairs: 0, different: 0 }, repeated: { pairs: 0, different: 0 } };
try {
  for (const command of commands) {
    for (const [kind, repeats] of [
      ['single', 1],
      ['repeated', 5],
    ]) {
      const runs = Array.from({ length: runsOf[kind] }, (_, i) =>
        measure(command, repeats, `${command.provider}-${command.benchmark}-${kind}-${i}`),
      );
      const found = accused(runs);
      total[kind].pairs += found.pairs;
      total[kind].different += found.different;
      console.log(
        `${command.benchmark} ${command.provider}, ${kind}: ${found.different} of ${found.pairs} pairs called different`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const missed = Object.entries(total).filter(([, { pairs, different }]) => different > pairs / 100);
for (const [kind, { pairs, different }] of Object.entries(total)) {
  console.log(`${kind}: ${different} of ${pairs} (${((100 * different) / pairs).toFixed(2)} %)`);
}
process.exitCode = missed.length === 0 ? 0 : 1;
