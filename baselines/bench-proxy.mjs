// How much of the CPU's own rate do writes keep that a kernel (or, without a GPU, CPU threads) asks a proxy for? The modes
// take turns within one run; the run is made several times, and the ratio is that of the medians of all samples.
//   npm run bench:proxy -- --provider shm
// Exits with 1 when NBI keeps less than 97 % at any size from 1 MiB up.
import { median, sizeText, weftJson } from './weft-json.mjs';

const required = 0.97;
const requiredFrom = 2 ** 20;
const repeats = 5;

const asked = process.argv.slice(2);
const sizes = asked.some((one) => one === '-b' || one === '-e') ? [] : ['-b', '64K', '-e', '64M'];
const runs = Array.from({ length: repeats }, () => weftJson(['proxy', ...sizes, ...asked]));
const rows = runs.flatMap((run) => run.rows).filter((row) => row.outcome === 'passed');
const timeOf = (bytes, column) => {
  const own = rows.filter((row) => row.bytes === bytes && row.column === column);
  return own.length === 0
    ? undefined
    : median(own.flatMap((row) => row.samples.map((sample) => sample / row.batch)));
};

const producer = rows.find((row) => row.labels.producer)?.labels.producer;
const memory = rows[0]?.labels.memory;
console.log(
  `proxy over ${runs[0].fabric.provider}, produced by the ${producer}, ${memory} memory, ${repeats} runs`,
);
console.log('size      strategy   baseline us   blocking keeps   NBI keeps');
let worst = Number.POSITIVE_INFINITY;
for (const bytes of new Set(rows.map((row) => row.bytes))) {
  for (const strategy of ['Single', 'Multi']) {
    const base = timeOf(bytes, strategy);
    const kept = (mode) => base / timeOf(bytes, `${strategy}${mode}`);
    if (base === undefined || Number.isNaN(kept('NBI'))) continue;
    if (bytes >= requiredFrom) worst = Math.min(worst, kept('NBI'));
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    console.log(
      [
        sizeText(bytes).padEnd(9),
        strategy.padEnd(8),
        (base / 1000).toFixed(1).padStart(13),
        percent(kept('Blocking')).padStart(16),
        percent(kept('NBI')).padStart(11),
      ].join(' '),
    );
  }
}
if (worst === Number.POSITIVE_INFINITY) {
  console.log('nothing from 1 MiB up was measured');
  process.exit(1);
}
console.log(
  `NBI keeps at least ${(100 * worst).toFixed(1)} % from 1 MiB up (required: ${100 * required} %)`,
);
process.exit(worst >= required ? 0 : 1);
