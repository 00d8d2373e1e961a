import { WeftError } from '../../errors.js';
import { requireNccl } from '../../peers/nccl.js';
import { ifAvailable } from '../../peers/peer.js';
import type { ByteMatrix } from '../../plan/byte-matrix.js';
import { multi, roundRobin, type Strategy } from '../../plan/strategies.js';
import type { Asked } from '../../runner/benchmark.js';
import { choice, option, several, size, text, type ValuesOf } from '../../settings/option.js';
import type { World } from '../../world/world.js';
import { type BackendId, backendIds } from './backend.js';
import { dtypes } from './dtype.js';
import { checkMessage, Exchange, uniformMatrix } from './exchange.js';
import { checkMatrixWorld, parseImbalance, readMatrix, zipfMatrix } from './imbalance.js';

export const defaultBytes = 4 * 2 ** 20;

const spreads = { multi, 'round-robin': roundRobin };

export const options = {
  msgBytes: option({
    flags: '--msg-bytes <size>',
    help: 'bytes from every rank to every rank',
    kind: size,
    defaultText: '4M',
  }),
  dtype: option({
    flags: '--dtype <type>',
    help: dtypes.join(', '),
    kind: choice(dtypes),
    default: 'float32',
  }),
  backends: option({
    flags: '--backend <list>',
    help: `any of ${backendIds.join(',')}`,
    kind: several(backendIds, 'backends'),
    defaultText: 'nccl or fabric',
  }),
  zipf: option({
    flags: '--imbalance <law>',
    help: 'zipf:S: send more to the first ranks',
    kind: { parse: parseImbalance, format: (exponent) => `zipf:${exponent}`, inFile: '`zipf:S`' },
  }),
  strategy: option({
    flags: '--strategy <name>',
    help: 'over channels: multi, round-robin',
    kind: choice(['multi', 'round-robin']),
    default: 'multi',
  }),
  matrix: option({
    flags: '--matrix <file>',
    help: 'CSV file of bytes from each rank to each rank',
    kind: text,
  }),
};

/** How Weft's own backend spreads blocks over channels. */
export const strategyOf = ({ strategy }: Pick<ValuesOf<typeof options>, 'strategy'>): Strategy =>
  spreads[strategy];

/** What the user asked `all-to-all-single` for. Of an imbalance, `msgBytes` is the mean; a matrix decides instead of it. */
type ExchangeRequest = ValuesOf<typeof options> & {
  readonly msgBytes: number;
  readonly iterations: number;
};

export function requestOf(asked: Asked<typeof options>): ExchangeRequest {
  const { msgBytes, zipf, matrix } = asked.options;
  if (matrix !== undefined && (msgBytes ?? zipf) !== undefined) {
    throw new WeftError(
      'BAD_USAGE',
      '`matrix` already sets the bytes from each rank to each rank',
      {
        hint: 'Leave out `msgBytes` and `zipf`, or `matrix`.',
      },
    );
  }
  const { iterations = 1 } = asked.settings;
  return { ...asked.options, msgBytes: msgBytes ?? defaultBytes, iterations };
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
  throw new WeftError('BAD_USAGE', 'all-to-all-single needs at least 2 ranks, not 1', {
    hint: 'Use `ranks` 2 here, or start more under torchrun, srun or mpirun. `backends` nccl also runs with 1 rank.',
  });
}

/** The exchange that all ranks agree on. Rank 0 alone reads the matrix. */
export async function agreeOnExchange(request: ExchangeRequest, world: World): Promise<Exchange> {
  const { dtype, matrix: path } = request;
  if (path === undefined) return exchangeOf(request, world.size);
  const mine = world.rank === 0 ? readMatrix(path, dtype) : undefined;
  if (mine) checkMatrixWorld(mine, path, world.size);
  return new Exchange(await world.broadcast<ByteMatrix>('matrix', mine ?? []), dtype);
}

export function exchangeOf(request: ExchangeRequest, world: number): Exchange {
  const { msgBytes, dtype, zipf, matrix: path } = request;
  if (path !== undefined) return new Exchange(readMatrix(path, dtype), dtype);
  checkMessage(msgBytes, dtype);
  const matrix =
    zipf === undefined ? uniformMatrix(world, msgBytes) : zipfMatrix(world, msgBytes, zipf, dtype);
  return new Exchange(matrix, dtype);
}

/** The script's default where GPUs are, ours elsewhere. */
export async function chooseBackends(
  asked: readonly BackendId[] | undefined,
  world: World,
): Promise<readonly BackendId[]> {
  if (asked) return asked;
  const everyone = await world.allgather('nccl here', (ifAvailable(requireNccl) ?? 0) > 0);
  return everyone.every(Boolean) ? ['nccl'] : ['fabric'];
}
