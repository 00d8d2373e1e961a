// Starts local ranks as a command would, prints how it ended, and exits accordingly.
import { describeExit, spawnRanks } from '../../../dist/world/index.js';

const [program, ranks, graceMs = '2000'] = process.argv.slice(2);
const job = await spawnRanks({
  ranks: Number(ranks),
  command: process.execPath,
  args: [program],
  graceMs: Number(graceMs),
});
console.log('started');
const outcome = await job.done;
const failure = outcome.failure && describeExit(outcome.failure);
console.log(JSON.stringify({ ok: outcome.ok, interrupted: outcome.interrupted, failure }));
process.exitCode = outcome.ok ? 0 : 1;
