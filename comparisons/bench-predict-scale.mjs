// Predictions at the largest scale: a uniform exchange of 1,024 nodes × 8 ranks × 4 NICs, with and without leaf switches.
// Prints wall time, CPU time and peak memory of each whole command. Exits with 1 when one fails or needs 2 GB or more.
//   npm run bench:predict-scale
import { join } from 'node:path';
import { measure } from './usage.mjs';

const mostMegabytes = 2000;
const program = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js');
const world = ['--nodes', '1024', '--ranks-per-node', '8', '--bytes', '1M'];
const leaves = ['--hosts-per-leaf', '32', '--oversubscription', '2'];
const cases = ['SingleDMA', 'MultiDMA', 'RoundRobinDMA'].flatMap((column) =>
  [[], leaves].map((switches) => [
    'predict',
    'all2all',
    ...world,
    '--columns',
    column,
    ...switches,
  ]),
);

let failed = false;
for (const args of cases) {
  const { code, megabytes, cpu, seconds } = await measure([program, ...args]);
  const isFine = code === 0 && megabytes > 0 && megabytes < mostMegabytes;
  failed ||= !isFine;
  const figures = `${seconds.toFixed(1)} s (CPU ${cpu.toFixed(1)} s), ${Math.round(megabytes)} MB`;
  console.log(`${isFine ? 'fine' : 'FAILED'}  ${figures}  weft ${args.join(' ')}`);
}
process.exitCode = failed ? 1 : 0;
