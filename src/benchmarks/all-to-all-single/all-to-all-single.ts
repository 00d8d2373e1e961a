import { WeftError } from '../../errors.js';
import { namedInterfaces } from '../../peers/interfaces.js';
import { mpiLauncher } from '../../peers/mpirun.js';
import { requireGpu } from '../../peers/nccl.js';
import { ifAvailable } from '../../peers/peer.js';
import type { Link } from '../../plan/bound.js';
import { defineBenchmark, type OpenBenchmark, type Procedure } from '../../runner/benchmark.js';
import { gatherAvailable, misfit } from '../../runner/memory-plan.js';
import type { FabricSettings } from '../../settings/table.js';
import type { World } from '../../world/world.js';
import { type BackendId, backendIds } from './backend.js';
import { Contents } from './contents.js';
import type { Exchange } from './exchange.js';
import { readMatrix } from './imbalance.js';
import { lines } from './log.js';
import { type Opened, openBackends } from './open-backends.js';
import {
  agreeOnExchange,
  checkRequest,
  checkWorld,
  chooseBackends,
  defaultBytes,
  exchangeOf,
  options,
  requestOf,
  strategyOf,
} from './request.js';
import { boundOfExchange, type RankPart, rowOfExchange, rowOfMissing } from './row.js';
import { runExchanges } from './run.js';

/** As torch.distributed's all_to_all_single, by several libraries in one job. */
export const allToAllSingle = defineBenchmark({
  id: 'all-to-all-single',
  summary: 'Time all_to_all_single over libfabric, gloo, MPI or NCCL, with a log per rank.',
  ranks: { min: 1, usual: 2 },
  columns: backendIds.map((name) => ({ name })),
  sizes: { minBytes: 4 * 2 ** 20, maxBytes: 4 * 2 ** 20, factor: 2 },
  options,
  defaults: { iterations: 1 },
  // One message size, every exchange verified, and as many exchanges as are asked for.
  without: [
    ...(['minBytes', 'maxBytes', 'stepFactor', 'stepBytes', 'budgetMs'] as const),
    ...(['warmup', 'repeats', 'check', 'columns'] as const),
  ],
  fabric: 'own',
  everyoneSpeaks: true,
  // A matrix knows how many ranks it is for.
  usualRanks: ({ options: { matrix, dtype } }) =>
    matrix === undefined ? undefined : readMatrix(matrix, dtype).length,
  check: (asked) => void requestOf(asked),
  preflight: (asked, ranks) => {
    checkRequest(requestOf(asked));
    checkWorld(ranks, asked.options.backends);
  },
  traffic: (asked, world) => ({
    traffic: exchangeOf(requestOf(asked), world).traffic(),
    strategy: strategyOf(asked.options),
  }),
  launcher: ({ options: { backends } }) => (backends?.includes('mpi') ? mpiLauncher() : undefined),
  open: openExchange,
});

async function openExchange(procedure: Procedure<typeof options>): Promise<OpenBenchmark> {
  const { world, settings, iface, say } = procedure;
  const request = requestOf(procedure);
  checkWorld(world.size, request.backends);
  const exchange = await agreeOnExchange(request, world);
  await refuseTooLarge(world, exchange);
  const ids = await chooseBackends(request.backends, world);
  // Why a GPU cannot be used is told with its row.
  const gpu = ids.includes('nccl')
    ? ifAvailable(() => requireGpu(world, settings.gpus))
    : undefined;
  say(lines.device(world.rank, gpu));
  const strategy = strategyOf(request);
  const interfaces = namedInterfaces(process.env, iface);
  const opened = await openBackends({
    world,
    exchange,
    ids,
    settings,
    strategy,
    interfaces,
    ifaceGiven: iface !== undefined,
  });
  say(lines.processGroup(world.rank, world.size));
  say(lines.payload(world.rank, exchange));
  return {
    session: opened.fabric?.session,
    record: recordOf(procedure, exchange, ids, opened),
    run: () => measure(procedure, exchange, opened),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Every rank runs; rank 0 makes the rows. */
async function measure(
  { world, settings, options: asked, listener, say }: Procedure<typeof options>,
  exchange: Exchange,
  { backends, missing, tensors, fabric }: Opened,
): Promise<void> {
  if (world.rank === 0) for (const one of missing) listener.row(rowOfMissing(one));
  if (backends.length === 0) return;
  const contents = new Contents(exchange, world.rank, tensors);
  const { iterations = 1 } = settings;
  const mine = await runExchanges({ world, exchange, backends, contents, iterations, say });
  const memory = fabric?.session.engine.memory ?? 'host';
  for (const { id } of backends) {
    const parts = await world.gather<RankPart>('samples', mine.get(id)!);
    const path = id === 'fabric' ? await fabric?.path() : undefined;
    if (!parts) continue;
    listener.row(
      rowOfExchange({
        id,
        exchange,
        hosts: world.hosts,
        links: linksOf(fabric?.session.links, settings),
        wiring: fabric?.session.wiring ?? world,
        strategy: strategyOf(asked),
        burstBytes: fabric?.session.burstBytes ?? 0,
        memory: id === 'nccl' ? undefined : memory,
        parts,
        path,
      }),
    );
  }
}

/** Without a fabric the line rate alone says what the links allow. */
const linksOf = (links: readonly Link[] | undefined, { lineRateGbps }: FabricSettings) =>
  links ?? (lineRateGbps === undefined ? [] : [{ lineRateGbps }]);

async function refuseTooLarge(world: World, exchange: Exchange): Promise<void> {
  const needs = Array.from({ length: world.size }, (_, rank) => ({
    sourceBytes: exchange.sourceBytes(rank),
    targetBytes: exchange.targetBytes(rank),
  }));
  const reason = misfit(world, needs, await gatherAvailable(world));
  if (reason === undefined) return;
  throw new WeftError('MEMORY_LIMIT', `the tensors do not fit: ${reason}`, {
    hint: 'Use a smaller `msgBytes` or fewer ranks.',
  });
}

/** What was asked for, what it was done with, and what the links allow. */
function recordOf(
  { world, settings, options: { matrix: _path, ...asked } }: Procedure<typeof options>,
  exchange: Exchange,
  ids: readonly BackendId[],
  { backends, fabric }: Opened,
) {
  const links = linksOf(fabric?.session.links, settings);
  const everyRank = Array.from({ length: world.size }, (_, rank) => rank);
  return {
    ...asked,
    own: undefined,
    msgBytes: asked.msgBytes ?? defaultBytes,
    backends: ids,
    versions: Object.fromEntries(backends.map(({ id, version }) => [id, version])),
    ...(exchange.uniform
      ? { pattern: 'allToAll' }
      : {
          matrix: exchange.matrix,
          sendBytes: everyRank.map((rank) => exchange.sourceBytes(rank)),
          receiveBytes: everyRank.map((rank) => exchange.targetBytes(rank)),
        }),
    boundNanoseconds:
      boundOfExchange(exchange, strategyOf(asked), links, fabric?.session.wiring ?? world) ?? null,
  };
}
