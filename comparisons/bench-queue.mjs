// Pushes per second from a GPU, against the best figure we know to be published.
//   npm run bench:queue
// Exits with 1 below 4.4 million a second with the best shape, or with none to judge on a GPU. Without a GPU it prints what CPU threads do and judges
// nothing: they are no measure of a GPU.
import { weftJson } from './weft-json.mjs';

const passMark = 4.4;
const goal = 5;

const { rows } = weftJson(['queue', ...process.argv.slice(2)]);
for (const { column, labels, mops, nanoseconds, breakdown, outcome } of rows) {
  if (outcome !== 'passed') continue;
  const shape = `${labels.grid}x${labels.block}`.padEnd(10);
  const doubt = breakdown?.clockUncertaintyNanoseconds ?? 0;
  const figure =
    mops === undefined
      ? `${nanoseconds.p50.toFixed(1)} ns median${doubt > 0 ? ` ± ${doubt.toFixed(0)}` : ''}, p99 ${nanoseconds.p99.toFixed(1)}`
      : `${mops.toFixed(3)} M/s`;
  console.log(`${column.padEnd(13)} ${shape} ${figure}`);
}
const pushes = rows.filter((row) => row.column === 'Push' && row.outcome === 'passed');
const onGpu = rows.some((row) => row.labels.producer === 'gpu');
if (pushes.length === 0) {
  console.log('no Push row: nothing to judge');
  process.exit(onGpu ? 1 : 0);
}
const best = Math.max(...pushes.map((row) => row.mops));
if (!onGpu) {
  console.log(`best ${best.toFixed(3)} M/s by CPU threads: no GPU here, nothing to judge`);
  process.exit(0);
}
console.log(`best ${best.toFixed(3)} M/s (pass mark ${passMark}, goal ${goal})`);
process.exit(best >= passMark ? 0 : 1);
