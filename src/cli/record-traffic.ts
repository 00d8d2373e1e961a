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
    help: 'write one iteration as a traffic file (.csv, .jsonl); run nothing',
    kind: text,
  }),
};

/** Writes the transfers of the largest size of the first column, in its first turn, as `weft traffic` reads them. */
export function recordTraffic(job: Job, world: number, file: string): void {
  const { benchmark, settings } = job;
  if (!isPlanned(benchmark)) {
    throw new WeftError(
      'BAD_USAGE',
      `${benchmark.id} is not a single plan: it cannot be recorded`,
      {
        hint: 'Use --record-traffic with a benchmark made of plans, such as all2all.',
      },
    );
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
    throw new WeftError('BAD_USAGE', `--record-traffic ${file}: the format is not known`, {
      hint: 'Use a name that ends in .csv (a list) or .jsonl (a trace).',
    });
  }
  if (transfers.some(({ after, notBefore }) => after !== undefined || notBefore !== undefined)) {
    throw new WeftError('BAD_USAGE', `${file}: a list has no room for what transfers wait for`, {
      hint: 'Use a name that ends in .jsonl.',
    });
  }
  return formatTransferList(transfers);
}
