import { isPlanned } from '../runner/benchmark.js';
import type { Job } from '../runner/job.js';
import { exitCode } from './output/failure.js';
import type { ShowOptions } from './show-options.js';

/** Starts the ranks of this machine in a benchmark's own way; undefined where it has none. */
export function launchBy(
  job: Job,
  ranks: number,
  { quiet }: ShowOptions,
): Promise<number> | undefined {
  const { benchmark, settings } = job;
  if (isPlanned(benchmark) || benchmark.fabric !== 'own') return undefined;
  const launcher = benchmark.launcher?.(job);
  if (!launcher) return undefined;
  if (!quiet) {
    process.stderr.write(
      `weft: starting ${ranks} ranks with ${launcher.command}: ${launcher.reason}\n`,
    );
  }
  const [, script = '', ...args] = process.argv;
  const command = { command: process.execPath, args: [script, ...args] };
  return launcher.start({ ranks, pin: settings.pin, ...command }).then((end) => {
    if (end.code === exitCode.ok) return exitCode.ok;
    if (!end.explained) {
      const how =
        end.signal === undefined ? `exited with code ${end.code}` : `was killed by ${end.signal}`;
      process.stderr.write(`weft: ${launcher.command} ${how}, and no rank reported an error\n`);
    }
    // A launcher makes a code of its own of a rank that was killed.
    const ours = Object.values<number>(exitCode).find((code) => code === end.code);
    return ours ?? exitCode.failed;
  });
}
