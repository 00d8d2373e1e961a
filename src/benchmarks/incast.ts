import { WeftError } from '../errors.js';
import { mean } from '../measure/summary.js';
import { transfersTraffic } from '../plan/patterns/transfers.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { writePlan } from '../plan/write-plan.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { option, wholeNumber } from '../settings/option.js';

const options = {
  senders: option({
    flags: '--senders <count>',
    help: 'senders, lowest ranks first',
    kind: wholeNumber(1),
    defaultText: 'all others',
  }),
  receiver: option({
    flags: '--receiver <rank>',
    help: 'rank that receives',
    kind: wholeNumber(0),
    default: 0,
  }),
};

export const incast = defineBenchmark({
  id: 'incast',
  summary: 'Write from many ranks to one at once; reports how fairly they share its line.',
  ranks: { min: 2, usual: 4 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 16 * 2 ** 20, factor: 4 },
  clock: 'slowest',
  pattern: 'incast',
  options,
  preflight: ({ options: { receiver, senders } }, ranks) =>
    void sendersOf(ranks, receiver, senders),
  turns: ({ world, bytes, options: { senders, receiver } }) => {
    const from = sendersOf(world, receiver, senders);
    const transfers = from.map((rank) => ({ from: rank, to: receiver, bytes }));
    const traffic = transfersTraffic('incast', world, transfers);
    const all = from.length * bytes;
    return [
      {
        traffic,
        plan: (situation) => writePlan(traffic, situation),
        figureBytes: { figure: all, line: all },
        // Its last arrival ends an iteration, whichever sender was the slow one.
        clock: receiver,
      },
    ];
  },
  figures: ({ situation: { world, options }, byRank: [ofRank] }) => {
    const from = sendersOf(world, options.receiver, options.senders);
    return { fairness: fairnessOf(from.map((rank) => ofRank![rank]!)) };
  },
});

/**
 * What the slowest sender delivered relative to the mean, in percent, from each sender's times per iteration. Counts only
 * until the first sender is done with all of its iterations: after that, the others share what it leaves.
 */
function fairnessOf(senders: readonly ArrayLike<number>[]): number {
  const until = Math.min(...senders.map(totalOf));
  const delivered = senders.map((times) => iterationsBy(until, times));
  return (100 * Math.min(...delivered)) / mean(delivered);
}

const totalOf = (times: ArrayLike<number>) =>
  Array.from(times).reduce((sum, time) => sum + time, 0);

function iterationsBy(until: number, times: ArrayLike<number>): number {
  let left = until;
  for (let done = 0; done < times.length; done++) {
    const time = times[done]!;
    if (time > left) return done + left / time;
    left -= time;
  }
  return times.length;
}

function sendersOf(world: number, receiver: number, asked: number | undefined): number[] {
  const others = Array.from({ length: world }, (_, rank) => rank).filter((r) => r !== receiver);
  const wrong =
    receiver >= world
      ? `receiver\` is ${receiver}, but the ranks are 0 to ${world - 1}`
      : asked !== undefined && asked > others.length
        ? `senders\` is ${asked}, but there are ${others.length} other ranks`
        : undefined;
  if (wrong === undefined) return others.slice(0, asked);
  throw new WeftError('BAD_USAGE', `\`${wrong}`, { hint: 'Use a smaller number, or more ranks.' });
}
