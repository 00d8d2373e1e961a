// Predictions at the largest scale: a uniform exchange of 1,024 nodes × 8 ranks × 4 NICs, with and without leaf switches.
// Prints wall time, CPU time and peak memory of each whole command. Exits with 1 when one fails or needs 2 GB or more.
//   npm run bench:predict-scale
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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

/** What the kernel says of a process: the peak of its memory, and its CPU time. The last look before the end is near enough. */
function usageOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0);
    // User and system time, in hundredths of a second.
    return { megabytes: (peak * 1024) / 1e6, cpu: (Number(fields[11]) + Number(fields[12])) / 100 };
  } catch {
    return { megabytes: 0, cpu: 0 };
  }
}

function measure(args) {
  return new Promise((resolve) => {
    const start = performance.now();
    const stdio = ['ignore', 'ignore', 'inherit'];
    const child = spawn(process.execPath, [program, ...args], { stdio });
    let [megabytes, cpu] = [0, 0];
    const look = setInterval(() => {
      const now = usageOf(child.pid);
      megabytes = Math.max(megabytes, now.megabytes);
      cpu = Math.max(cpu, now.cpu);
    }, 20);
    child.on('exit', (code) => {
      clearInterval(look);
      resolve({ code, megabytes, cpu, seconds: (performance.now() - start) / 1000 });
    });
  });
}

let failed = false;
for (const args of cases) {
  const { code, megabytes, cpu, seconds } = await measure(args);
  const isFine = code === 0 && megabytes > 0 && megabytes < mostMegabytes;
  failed ||= !isFine;
  const figures = `${seconds.toFixed(1)} s (CPU ${cpu.toFixed(1)} s), ${Math.round(megabytes)} MB`;
  console.log(`${isFine ? 'fine' : 'FAILED'}  ${figures}  weft ${args.join(' ')}`);
}
process.exitCode = failed ? 1 : 0;
