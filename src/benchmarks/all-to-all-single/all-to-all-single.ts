import { WeftError } from '../../errors.js';
import type { Link } from '../../plan/bound.js';
import { newRunId } from '../../results/run-name.js';
import { type Row, type RunHeader, runSchemaName } from '../../results/schema.js';
import { gatherAvailable, misfit } from '../../runner/memory-plan.js';
import { fabricOf, keepRun, type Recorded } from '../../runner/record-run.js';
import type { FabricSettings } from '../../session/fabric-settings.js';
import type { World } from '../../world/world.js';
import { type BackendId, Unavailable } from './backend.js';
import { Contents } from './contents.js';
import type { Exchange } from './exchange.js';
import { namedInterfaces } from './interfaces.js';
import { lines, type Say } from './log.js';
import { requireGpu } from './nccl.js';
import { type Opened, openBackends } from './open-backends.js';
import { agreeOnExchange, checkWorld, chooseBackends, type ExchangeRequest } from './request.js';
import { boundOfExchange, type RankPart, rowOfExchange, rowOfMissing } from './row.js';
import { runExchanges } from './run.js';

export const allToAllSingleId = 'all-to-all-single';

export interface AllToAllSingleOptions {
  readonly world: World;
  readonly request: ExchangeRequest;
  readonly settings: FabricSettings;
  readonly iface?: string | undefined;
  /** Default: a new file in the results folder. */
  readonly out?: string | undefined;
  /** Hears this rank's log, without time and date. */
  readonly say: Say;
}

/** Runs the exchange with every backend on every rank; rank 0 gets the run and where it is kept. */
export async function allToAllSingle(
  options: AllToAllSingleOptions,
): Promise<Recorded | undefined> {
  const { world, request, settings, iface, say } = options;
  checkWorld(world.size, request.backends);
  const exchange = await agreeOnExchange(request, world);
  await refuseTooLarge(world, exchange);
  const ids = await chooseBackends(request.backends, world);
  say(lines.device(world.rank, cudaDevice(ids, world, settings)));
  const interfaces = namedInterfaces(process.env, iface);
  await using opened = await openBackends({
    world,
    exchange,
    ids,
    settings,
    interfaces,
    ifaceGiven: iface !== undefined,
  });
  say(lines.processGroup(world.rank, world.size));
  say(lines.payload(world.rank, exchange));
  const run = (append: (row: Row) => void) => measure(options, exchange, opened, append);
  if (world.rank !== 0) {
    await run(() => {});
    return undefined;
  }
  const header = headerOf(options, exchange, ids, opened);
  // Awaited here: the backends must stay open until then.
  return await keepRun({ header, world, out: options.out }, run);
}

/** Every rank runs; rank 0 makes the rows. */
async function measure(
  { world, request, settings, say }: AllToAllSingleOptions,
  exchange: Exchange,
  { backends, missing, tensors, fabric }: Opened,
  append: (row: Row) => void,
): Promise<void> {
  if (world.rank === 0) for (const one of missing) append(rowOfMissing(one));
  if (backends.length === 0) return;
  const contents = new Contents(exchange, world.rank, tensors);
  const { iterations } = request;
  const mine = await runExchanges({ world, exchange, backends, contents, iterations, say });
  const memory = fabric?.session.engine.memory ?? 'host';
  for (const { id } of backends) {
    const parts = await world.gather<RankPart>('samples', mine.get(id)!);
    if (!parts) continue;
    append(
      rowOfExchange({
        id,
        exchange,
        hosts: world.hosts,
        links: linksOf(fabric?.session.links, settings),
        burstBytes: fabric?.session.burstBytes ?? 0,
        memory: id === 'nccl' ? undefined : memory,
        parts,
      }),
    );
  }
}

/** Without a fabric `--line-rate` alone says what the links allow. */
const linksOf = (links: readonly Link[] | undefined, { lineRateGbps }: FabricSettings) =>
  links ?? (lineRateGbps === undefined ? [] : [{ lineRateGbps }]);

function cudaDevice(
  ids: readonly BackendId[],
  world: World,
  { gpus }: FabricSettings,
): number | undefined {
  if (!ids.includes('nccl')) return undefined;
  try {
    return requireGpu(world, gpus);
  } catch (error) {
    // Why it cannot be used is told with its row.
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

async function refuseTooLarge(world: World, exchange: Exchange): Promise<void> {
  const needs = Array.from({ length: world.size }, (_, rank) => ({
    sourceBytes: exchange.sourceBytes(rank),
    targetBytes: exchange.targetBytes(rank),
  }));
  const reason = misfit(world, needs, await gatherAvailable(world));
  if (reason === undefined) return;
  throw new WeftError('MEMORY_LIMIT', `the tensors do not fit: ${reason}`, {
    hint: 'Use a smaller --msg-bytes or fewer ranks.',
  });
}

function headerOf(
  { world, request, settings }: AllToAllSingleOptions,
  exchange: Exchange,
  ids: readonly BackendId[],
  { backends, fabric }: Opened,
): RunHeader {
  const startedAt = new Date();
  const links = linksOf(fabric?.session.links, settings);
  const everyRank = Array.from({ length: world.size }, (_, rank) => rank);
  const { matrix: _path, ...asked } = request;
  return {
    schema: runSchemaName,
    id: newRunId(allToAllSingleId, startedAt),
    benchmark: allToAllSingleId,
    startedAt: startedAt.toISOString(),
    world: { ranks: world.size, hosts: [...new Set(world.hosts)], launcher: world.launcher },
    fabric: fabricOf(fabric?.session),
    settings: JSON.parse(
      JSON.stringify({
        ...settings,
        ...asked,
        backends: ids,
        versions: Object.fromEntries(backends.map(({ id, version }) => [id, version])),
        ...(exchange.uniform
          ? { pattern: 'allToAll' }
          : {
              matrix: exchange.matrix,
              sendBytes: everyRank.map((rank) => exchange.sourceBytes(rank)),
              receiveBytes: everyRank.map((rank) => exchange.targetBytes(rank)),
            }),
        boundNanoseconds: boundOfExchange(exchange, links, world.hosts) ?? null,
        authenticated: world.authenticated,
      }),
    ),
  };
}
