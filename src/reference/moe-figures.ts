import type { Publication, PublishedFigure } from './published.js';

const hidden = 7168;
/** A token in fp8: a byte per value, and a float32 scale for every 128 values. */
const tokenBytes = hidden + (4 * hidden) / 128;
const asStated = { hidden, topK: 8, dtype: 'fp8' } as const;

interface Pair {
  readonly tokens: number;
  readonly ranks: number;
  readonly options?: PublishedFigure['options'];
  readonly quantity: PublishedFigure['quantity'];
  readonly dispatch: number;
  readonly combine: number;
}

/** Both halves of an expert layer, on nodes of 8 ranks. */
function layer({ tokens, ranks, quantity, dispatch, combine, options }: Pair): PublishedFigure[] {
  const shared = { bytes: tokens * tokenBytes, nodes: ranks / 8, ranksPerNode: 8, quantity };
  const stated = options && { options };
  return [
    { ...shared, ...stated, column: 'DispatchMultiDMA', value: dispatch },
    { ...shared, ...stated, column: 'CombineMultiDMA', value: combine },
  ];
}

const uccl = {
  source: {
    name: 'UCCL-EP, ep/README.md',
    url: 'https://github.com/uccl-project/uccl/blob/main/ep/README.md',
    read: '2026-11',
  },
  machine: 'p5en.48xlarge',
  benchmark: 'moe',
  library: 'UCCL-EP over EFA',
  nicsPerRank: 2,
} as const;

const connectX7 = { machine: 'ConnectX-7', benchmark: 'moe', nicsPerRank: 1 } as const;

/** Dispatch and combine of expert layers. */
export const moeFigures: readonly Publication[] = [
  {
    ...uccl,
    conditions:
      'Normal kernels with NVLink and RDMA forwarding: 4,096 tokens, 7168 values, top-4 groups, top-8 experts, dispatch in FP8, combine in BF16.',
    figures: [
      ...[
        { ranks: 16, dispatch: 1196, combine: 6379 },
        { ranks: 24, dispatch: 1633, combine: 6365 },
        { ranks: 32, dispatch: 2022, combine: 4899 },
      ].flatMap((one) => layer({ ...one, tokens: 4096, options: asStated, quantity: 'meanUs' })),
    ],
  },
  {
    ...uccl,
    conditions:
      'Low-latency kernels with RDMA alone: 128 tokens, 7168 values, top-8 experts, dispatch in FP8, combine in BF16.',
    figures: layer({
      tokens: 128,
      ranks: 16,
      options: asStated,
      quantity: 'meanUs',
      dispatch: 226,
      combine: 293,
    }),
  },
  {
    ...connectX7,
    source: {
      name: 'DeepEP V2, README.md',
      url: 'https://github.com/deepseek-ai/DeepEP',
      read: '2026-11',
    },
    library: 'DeepEP V2 over NCCL’s Gin',
    conditions:
      'Hopper GPUs, one ConnectX-7 each: 8K tokens, 7168 values, top-8 experts, dispatch in FP8, combine in BF16. The bandwidth includes traffic between ranks of one node.',
    figures: [
      { ranks: 16, dispatch: 90, combine: 81 },
      { ranks: 32, dispatch: 61, combine: 61 },
    ].flatMap((one) => layer({ ...one, tokens: 8192, options: asStated, quantity: 'theirGBps' })),
  },
  {
    ...connectX7,
    source: {
      name: 'pplx-garden, docs/fabric-lib.md',
      url: 'https://github.com/perplexityai/pplx-garden/blob/main/docs/fabric-lib.md',
      read: '2026-11',
    },
    library: 'fabric-lib of pplx-garden',
    conditions: 'Decode with 128 tokens; NVLink within a node. Values per token are not stated.',
    figures: layer({ tokens: 128, ranks: 64, quantity: 'meanUs', dispatch: 187.5, combine: 309.1 }),
  },
];
