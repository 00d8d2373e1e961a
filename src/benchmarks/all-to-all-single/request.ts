import { WeftError } from '../../errors.js';
import type { World } from '../../world/world.js';
import { type BackendId, backendIds, Unavailable } from './backend.js';
import type { Dtype } from './dtype.js';
import { type ByteMatrix, checkMessage, Exchange, uniformMatrix } from './exchange.js';
import { checkMatrixWorld, readMatrix, zipfMatrix } from './imbalance.js';
import { requireNccl } from './nccl.js';

/** What the user asked `all-to-all-single` for. */
export interface ExchangeRequest {
  /** Bytes from every rank to every rank; of an imbalance the mean. */
  readonly msgBytes: number;
  readonly dtype: Dtype;
  readonly iterations: number;
  /** Undefined: nccl where every rank has a GPU and NCCL, else fabric. */
  readonly backends?: readonly BackendId[];
  /** The exponent of Zipf's law. */
  readonly zipf?: number;
  /** The path of a matrix; it decides instead of `msgBytes`. */
  readonly matrix?: string;
}

export function parseBackends(text: string): BackendId[] {
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  const unknown = names.filter((name) => !backendIds.includes(name as BackendId));
  if (unknown.length > 0) {
    throw new WeftError('BAD_USAGE', `there is no backend ${unknown.join(', ') || '""'}`, {
      hint: `There are ${backendIds.join(', ')}; several with commas between them.`,
    });
  }
  return [...new Set(names as BackendId[])];
}

/** What can be known to be wrong before any rank is started. */
export function checkRequest(request: ExchangeRequest): void {
  if (request.matrix === undefined) checkMessage(request.msgBytes, request.dtype);
  else readMatrix(request.matrix, request.dtype);
}

/** One rank has nobody to send to; NCCL alone runs with it, as a first sign of life of a GPU. */
export function checkWorld(world: number, backends: readonly BackendId[] | undefined): void {
  const onlyNccl = backends?.length === 1 && backends[0] === 'nccl';
  if (world > 1 || onlyNccl) return;
  throw new WeftError('BAD_USAGE', 'all-to-all-single needs at least 2 ranks, and this is 1', {
    hint: 'Use --ranks 2 here, or start more under torchrun, srun or mpirun; --backend nccl runs alone, too.',
  });
}

/** The exchange that all ranks agree on. Rank 0 alone reads the matrix. */
export async function agreeOnExchange(request: ExchangeRequest, world: World): Promise<Exchange> {
  const { msgBytes, dtype, zipf, matrix: path } = request;
  if (path !== undefined) {
    const mine = world.rank === 0 ? readMatrix(path, dtype) : undefined;
    if (mine) checkMatrixWorld(mine, path, world.size);
    return new Exchange(await world.broadcast<ByteMatrix>('matrix', mine ?? []), dtype);
  }
  checkMessage(msgBytes, dtype);
  const matrix =
    zipf === undefined
      ? uniformMatrix(world.size, msgBytes)
      : zipfMatrix(world.size, msgBytes, zipf, dtype);
  return new Exchange(matrix, dtype);
}

/** The script's default where GPUs are, ours elsewhere. */
export async function chooseBackends(
  asked: readonly BackendId[] | undefined,
  world: World,
): Promise<readonly BackendId[]> {
  if (asked) return asked;
  const everyone = await world.allgather('nccl here', canUseNccl());
  return everyone.every(Boolean) ? ['nccl'] : ['fabric'];
}

function canUseNccl(): boolean {
  try {
    return requireNccl() > 0;
  } catch (error) {
    if (error instanceof Unavailable) return false;
    throw error;
  }
}
