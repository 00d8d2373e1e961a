import type { Publication, PublishedFigure } from './published.js';

const figure = (kibibytes: number, value: number): PublishedFigure => ({
  column: 'PushMulti',
  bytes: kibibytes * 1024,
  nodes: 2,
  ranksPerNode: 1,
  quantity: 'theirGBps',
  value,
});

/** Blocks of memory from one machine to another, as hand-offs of KV caches move them. */
export const kvFigures: readonly Publication[] = [
  {
    source: {
      name: 'Mooncake, pull request 1509',
      url: 'https://github.com/kvcache-ai/Mooncake/pull/1509',
      read: '2026-11',
    },
    machine: 'p6-b200.48xlarge',
    benchmark: 'kv',
    library: 'Mooncake’s transfer engine over EFA',
    nicsPerRank: 8,
    conditions:
      'Two nodes, the 8 EFA devices of a node together: blocks of 64 KiB with 8 threads (default), blocks of 128 KiB with 48 threads and slices of 256 KiB (tuned; the lower end of 168 to 172). Whether in host or GPU memory is not stated.',
    figures: [figure(64, 69.47), figure(128, 168)],
  },
];
