import { namesOf } from '../analysis/hosts/differences.js';
import { WeftError } from '../errors.js';
import { devicesWithoutNodes, nodesHint } from '../fabric/hidden-devices.js';
import { isOffered, isRdma } from '../fabric/providers.js';
import { onOneHost } from '../world/same-host.js';
import type { World } from '../world/world.js';
import type { FabricWish } from './fabric-wish.js';
import { refuseTogether } from './refuse-together.js';
import { UnfitRanks } from './unfit-ranks.js';

/** In order of preference. */
const askedAbout = ['efa', 'verbs', 'shm'];
const rdma = askedAbout.filter(isRdma);

/** The provider of every rank: the one asked for, else RDMA where every rank has it, else shm on one host, else tcp. */
export async function agreeOnProvider(world: World, wish: FabricWish): Promise<string> {
  const asked = wish.provider;
  const provider = asked === undefined || isRdma(asked) ? await commonProvider(world, wish) : asked;
  if (provider === 'shm' && !onOneHost(world)) {
    const hint = 'Leave `provider` out, or use tcp. Network namespaces count as hosts.';
    await refuseTogether(
      world,
      new WeftError('BAD_USAGE', 'shm cannot connect ranks on different hosts', { hint }),
    );
  }
  return provider;
}

/** Who names NICs wants them used. A provider that only some hosts have is a fault of the others, not a reason for tcp. */
async function commonProvider(world: World, wish: FabricWish): Promise<string> {
  const { provider, nics, socketNics } = wish;
  const everyones = await world.allgather('providers', {
    offered: (provider === undefined ? askedAbout : [provider]).filter(isOffered),
    closed: devicesWithoutNodes().length > 0,
  });
  const named = nics !== undefined || socketNics !== undefined;
  const remote = provider === undefined ? rdma : [provider];
  const candidates = provider === undefined && onOneHost(world) && !named ? askedAbout : remote;
  const having = (name: string) => everyones.filter(({ offered }) => offered.includes(name)).length;
  const partly = remote.find((name) => having(name) > 0 && having(name) < world.size);
  const everywhere = candidates.find((name) => having(name) === world.size);
  if (everywhere === undefined && partly !== undefined) {
    const without = everyones.flatMap(({ offered, closed }, rank) =>
      offered.includes(partly) ? [] : [{ rank, host: world.hosts[rank]!, closed }],
    );
    throw missing(partly, without);
  }
  return everywhere ?? provider ?? 'tcp';
}

function missing(
  provider: string,
  without: readonly { readonly rank: number; readonly host: string; readonly closed: boolean }[],
): WeftError {
  const hosts = namesOf([...new Set(without.map(({ host }) => host))]);
  const closed = without.every((one) => one.closed);
  const why = closed ? ': there are RDMA devices, but no /dev/infiniband/uverbs*' : '';
  const find = closed
    ? nodesHint
    : 'Find out why with FI_LOG_LEVEL=warn fi_info and `weft info` there.';
  return new WeftError('NO_PROVIDER', `${provider} is missing on ${hosts}${why}`, {
    hint: `${find} To measure without it, set \`provider\` to tcp.`,
    cause: new UnfitRanks(without.map(({ rank }) => rank)),
  });
}
