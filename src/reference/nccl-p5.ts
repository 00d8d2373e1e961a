import type { Publication, PublishedFigure } from './published.js';

/** [nodes, MiB in all, BusBW out of place in GB/s] */
const exchanges = [
  [2, 32, 44.79],
  [2, 64, 62.16],
  [2, 128, 68.79],
  [2, 256, 74.26],
  [2, 512, 75.82],
  [2, 1024, 77.73],
  [2, 2048, 79.25],
  [4, 32, 34.45],
  [4, 64, 43.13],
  [4, 128, 52.56],
  [4, 256, 54.28],
  [4, 512, 53.84],
  [4, 1024, 53.75],
  [4, 2048, 54.07],
  [8, 32, 28.67],
  [8, 64, 34.69],
  [8, 128, 36.2],
  [8, 256, 44.4],
  [8, 512, 46.57],
  [8, 1024, 48.31],
  [8, 2048, 49.63],
] as const;

const ranksPerNode = 8;

/** NCCL's size is that of all blocks of a rank, its own included. */
const exchange = (nodes: number, mebibytes: number, value: number): PublishedFigure => ({
  column: 'MultiDMA',
  bytes: (mebibytes * 2 ** 20) / (nodes * ranksPerNode),
  nodes,
  ranksPerNode,
  quantity: 'busbwGBps',
  value,
});

const onP5 = { machine: 'p5.48xlarge', library: 'NCCL', nicsPerRank: 4 } as const;

const awsome = 'https://github.com/awslabs/awsome-distributed-ai';

export const ncclOnP5: readonly Publication[] = [
  {
    ...onP5,
    benchmark: 'all2all',
    source: {
      name: 'aws-gpu-communication-benchmark by chang-ning, CC BY 4.0',
      url: 'https://github.com/crazyguitar/aws-gpu-communication-benchmark',
      read: '2026-11',
    },
    conditions:
      'nccl-tests alltoall_perf, out of place, NCCL_BUFFSIZE 8 MiB, NCCL_P2P_NET_CHUNKSIZE 512 KiB, 1,000 iterations. Ranks of one node use NVLink.',
    figures: exchanges.map(([nodes, mebibytes, value]) => exchange(nodes, mebibytes, value)),
  },
  {
    ...onP5,
    benchmark: 'all2all',
    source: { name: 'awsome-distributed-ai, RESULTS-p5.md', url: awsome, read: '2026-11' },
    conditions: 'NCCL’s all-to-all at 64 MiB. Ranks of one node use NVLink.',
    figures: [exchange(4, 64, 45.1), exchange(8, 64, 40.4)],
  },
  {
    ...onP5,
    benchmark: 'allreduce',
    source: { name: 'awsome-distributed-ai, README of nccl-tests', url: awsome, read: '2026-11' },
    conditions: 'NCCL’s all-reduce in GPU memory. Ranks of one node use NVLink.',
    figures: [
      {
        column: 'Multi',
        bytes: 16 * 2 ** 30,
        nodes: 2,
        ranksPerNode,
        quantity: 'busbwGBps',
        value: 487,
      },
    ],
  },
];
