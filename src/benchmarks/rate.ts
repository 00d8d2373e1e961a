import { messagesPlan, messagesTraffic } from '../plan/patterns/messages.js';
import { maxParts } from '../plan/plan.js';
import { multi, single } from '../plan/strategies.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, pinned } from '../runner/columns.js';
import { option, wholeNumber } from '../settings/option.js';
import { partnerOf } from './peers.js';
import { refuseEmpty } from './refusals.js';

export const rate = defineBenchmark({
  id: 'rate',
  summary: 'Count small writes per second from one rank to another, with many in flight.',
  ranks: { min: 2 },
  columns: columns([single, multi], [pinned]),
  sizes: { minBytes: 8, maxBytes: 4096, factor: 2 },
  clock: 'initiator',
  pattern: 'messages',
  notModelled: 'the rate at which small messages are posted and completed',
  check: ({ settings }) => refuseEmpty(settings, 'a message'),
  defaults: { window: 256 },
  options: {
    messages: option({
      flags: '--messages <count>',
      help: 'messages per iteration',
      kind: wholeNumber(1, maxParts),
      default: 4096,
    }),
  },
  turns: ({ world, hosts, bytes, options: { messages: count } }) => {
    const to = partnerOf(hosts);
    const traffic = messagesTraffic({ world, from: 0, to, bytes, count });
    const all = bytes * count;
    return [
      {
        traffic,
        plan: (situation) => messagesPlan(traffic, bytes, situation),
        figureBytes: { figure: all, line: all },
        pair: [0, to],
      },
    ];
  },
  figures: ({ situation: { options }, nanoseconds }) => ({
    mops: (options.messages * 1e3) / nanoseconds.mean,
  }),
});
