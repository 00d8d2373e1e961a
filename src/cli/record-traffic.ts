import { extname } from 'node:path';
import { WeftError } from '../errors.js';
import { formatTrace, formatTransferList, recordedTraffic } from '../plan/recorded-traffic.js';
import { single } from '../plan/strategies.js';
import { isPlanned } from '../runner/benchmark.js';
import { columnsOf } from '../runner/columns.js';
import { type Job, rowSizes, turnsOf } from '../runner/job.js';
import { option, text } from '../settings/option.js';
import { writeWhole } from './output/write-whole.js';

export const recordOptions = {
  recordTraffic: option({
    flags: '--record-traffic <file>',
    help: 'write traffic to a .csv or .jsonl file; run nothing',
    kind: text,
  }),
};

/** Writes the transfers of the largest size of the first column, in its first turn, as `weft traffic` reads them. */
export function recordTraffic(job: Job, world: number, file: string): void {
  const { benchmark, settings } = job;
  if (!isPlanned(benchmark)) {
    throw new WeftError('BAD_USAGE', `cannot record ${benchmark.id}: it does not run as plans`, {
      hint: 'Use --record-traffic with a benchmark made of plans, such as all2all.',
    });
  }
  const planned = { ...job, benchmark };
  const hosts = Array.from({ length: world }, () => 'this host');
  const [column] = columnsOf(benchmark, settings.columns);
  const [turn] = turnsOf(planned, hosts, rowSizes(planned).at(-1)!, column!);
  // One channel, so that every transfer is one step.
  const how = { channels: 1, strategy: single };
  const transfers = recordedTraffic(hosts.map((_, rank) => turn!.plan({ ...how, rank })));
  writeWhole(file, written(transfers, file), '--record-traffic');
}

function written(transfers: ReturnType<typeof recordedTraffic>, file: string): string {
  if (extname(file) === '.jsonl') return formatTrace(transfers);
  if (extname(file) !== '.csv') {
    throw new WeftError('BAD_USAGE', `--record-traffic ${file}: unknown format`, {
      hint: 'Use a name that ends in .csv (a list) or .jsonl (a trace).',
    });
  }
  if (transfers.some(({ after, notBefore }) => after !== undefined || notBefore !== undefined)) {
    throw new WeftError('BAD_USAGE', `${file}: a CSV list cannot hold times and dependencies`, {
      hint: 'Use a name that ends in .jsonl.',
    });
  }
  return formatTransferList(transfers);
}
