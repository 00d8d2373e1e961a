// How much of the CPU's own rate do writes keep that a kernel (or, without a GPU, CPU threads) asks a proxy for? The modes
// take turns within one run, which gives a loss; the run is made several times, and the median of the losses counts.
//   npm run bench:proxy -- --provider shm
// Exits with 1 when NBI keeps less than 97 % at any size from 1 MiB up.
import { median, sizeText, weftJson } from './weft-json.mjs';

const required = 97;
const requiredFrom = 2 ** 20;
const repeats = 5;

const asked = process.argv.slice(2);
const sizes = asked.some((one) => one === '-b' || one === '-e') ? [] : ['-b', '64K', '-e', '64M'];
const runs = [];
for (let repeat = 1; repeat <= repeats; repeat++) {
  const started = Date.now();
  runs.push(weftJson(['proxy', ...sizes, ...asked]));
  process.stderr.write(
    `run ${repeat} of ${repeats}: ${Math.round((Date.now() - started) / 1000)} s\n`,
  );
}

const rows = runs.flatMap((run) => run.rows).filter((row) => row.outcome === 'passed');
const ofCell = (bytes, column) =>
  rows.filter((row) => row.bytes === bytes && row.column === column);
const keptOf = (bytes, column) =>
  ofCell(bytes, column)
    .filter((row) => row.lossPercent !== undefined)
    .map((row) => 100 - row.lossPercent);
const keptText = (kept) => {
  if (kept.length === 0) return '-'.padStart(24);
  const [middle, ...ends] = [median(kept), Math.min(...kept), Math.max(...kept)];
  return `${middle.toFixed(1)} % (${ends.map((end) => end.toFixed(1)).join('…')})`.padStart(24);
};

const producer = rows.find((row) => row.labels.producer)?.labels.producer;
console.log(
  `proxy over ${runs[0].fabric.provider}, produced by the ${producer}, ${rows[0]?.labels.memory} memory, ${repeats} runs: median (least…most)`,
);
console.log('size      strategy   baseline us           blocking keeps                NBI keeps');
let worst = Number.POSITIVE_INFINITY;
for (const bytes of new Set(rows.map((row) => row.bytes))) {
  for (const strategy of ['Single', 'Multi']) {
    const nbi = keptOf(bytes, `${strategy}NBI`);
    if (nbi.length === 0) continue;
    if (bytes >= requiredFrom) worst = Math.min(worst, median(nbi));
    const baseline = median(ofCell(bytes, strategy).map((row) => row.nanoseconds.p50));
    console.log(
      [
        sizeText(bytes).padEnd(9),
        strategy.padEnd(8),
        (baseline / 1000).toFixed(1).padStart(13),
        keptText(keptOf(bytes, `${strategy}Blocking`)),
        keptText(nbi),
      ].join(' '),
    );
  }
}
if (worst === Number.POSITIVE_INFINITY) {
  console.log('nothing from 1 MiB up was measured');
  process.exit(1);
}
console.log(`NBI keeps at least ${worst.toFixed(1)} % from 1 MiB up (required: ${required} %)`);
process.exit(worst >= required ? 0 : 1);
