import type { Exchange } from './exchange.js';

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(2);

/** The lines of the PyTorch script, in its words. */
export const lines = {
  device: (rank: number, cudaDevice: number | undefined): string =>
    cudaDevice === undefined
      ? `Rank ${rank}: Using CPU device`
      : `Rank ${rank}: Using CUDA device ${cudaDevice}`,

  processGroup: (rank: number, world: number): string =>
    `Rank ${rank}/${world}: Process group initialized`,

  payload: (rank: number, exchange: Exchange): string => {
    const bytes = exchange.sourceBytes(rank);
    const elements = bytes / exchange.elementBytes;
    const message = exchange.sendBytes(rank)[0]!;
    const each = exchange.uniform
      ? `${message / exchange.elementBytes} elems/msg = ${mebibytes(message)} MiB/msg`
      : `${exchange.world} msgs of ${mebibytes(Math.min(...exchange.sendBytes(rank)))} to ${mebibytes(Math.max(...exchange.sendBytes(rank)))} MiB`;
    return `Rank ${rank}: Creating payload tensor with ${elements} elements (${mebibytes(bytes)} MiB total, ${each})`;
  },

  /** `backend` where several take turns. */
  starting: (rank: number, backend?: string): string =>
    `Rank ${rank}: Starting all_to_all_single operation...${named(backend)}`,

  completed: (rank: number, nanoseconds: number, backend?: string): string =>
    `Rank ${rank}: all_to_all_single completed in ${(nanoseconds / 1e6).toFixed(2)} ms${named(backend)}`,

  verification: (
    rank: number,
    elements: number,
    ends: { first: string[]; last: string[] },
    backend?: string,
  ): string =>
    `Rank ${rank}: Verification - output_numel=${elements} first_vals=[${ends.first.join(', ')}] ` +
    `last_vals=[${ends.last.join(', ')}]${named(backend)}`,
};

const named = (backend: string | undefined): string =>
  backend === undefined ? '' : ` [${backend}]`;
