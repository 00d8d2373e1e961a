import { WeftError } from '../errors.js';
import type { FabricOptions } from '../fabric/fabric.js';
import { listNics } from '../fabric/nics.js';
import { isOffered, offeredNics } from '../fabric/providers.js';
import { readMachine } from '../world/launch/machine.js';
import type { World } from '../world/world.js';
import { agreeOnGpuRails, type GpuRailReport, reportGpuRails } from './gpu-rails.js';
import { brokenRails, commonRails, type RailReport, reportRails } from './rails.js';

/** What the user asked for; whatever is absent is chosen. */
export interface FabricWish {
  readonly provider?: string;
  readonly nics?: readonly string[];
  readonly channels?: number;
  /** CUDA's numbers of the GPUs that the ranks of a host take in turn. */
  readonly gpus?: readonly number[];
}

export interface ChosenFabric {
  readonly options: FabricOptions;
  /** Rails that were left out because some hosts have no carrier there. */
  readonly unplugged: readonly Unplugged[];
  /** NICs near the GPUs that are not used, and why, in words. */
  readonly leftOut: readonly string[];
  /** Why every NIC is used although some ranks have NICs near their GPUs. */
  readonly notByGpu?: string;
}

export interface Unplugged {
  readonly nic: string;
  readonly hosts: readonly string[];
}

interface NicChoice {
  readonly nics?: readonly string[];
  readonly unplugged?: readonly Unplugged[];
  readonly leftOut?: readonly string[];
  readonly notByGpu?: string;
}

const rdma = ['efa', 'verbs'];
const askedAbout = [...rdma, 'shm'];

/** Ranks can share memory when they run in one boot of one machine and see the same network. */
export function onOneHost({ members }: Pick<World, 'members'>): boolean {
  const [first] = members;
  return members.every(({ bootId, netns }) => bootId === first?.bootId && netns === first?.netns);
}

/**
 * The provider and NICs this rank opens; every rank calls it. RDMA where every rank has it, else shm on one host,
 * else tcp. Between hosts, channel k of every rank goes to the k-th network they have in common; with RDMA and GPUs to
 * the k-th of the NICs nearest its GPU.
 */
export async function chooseFabric(
  world: World,
  wish: FabricWish,
  unplugged: 'refuse' | 'leave-out' = 'refuse',
): Promise<ChosenFabric> {
  const provider = wish.provider ?? (await chooseProvider(world, wish));
  if (provider === 'shm' && !onOneHost(world)) {
    const hint = 'Leave --provider out, or use tcp. Network namespaces count as hosts.';
    await refuse(
      world,
      new WeftError('BAD_USAGE', 'shm cannot join ranks of several hosts', { hint }),
    );
  }
  if (provider === 'shm' && wish.nics) {
    const hint = 'Leave --nics out, or use --provider tcp.';
    await refuse(world, new WeftError('BAD_USAGE', 'shm uses no NICs', { hint }));
  }
  const channels = wish.channels === undefined ? {} : { channels: wish.channels };
  const chosen: NicChoice = wish.nics
    ? { nics: wish.nics }
    : isRdma(provider)
      ? await nicsNearGpu(world, provider, wish)
      : await chooseNics(world, provider, unplugged);
  return {
    options: { provider, ...channels, ...(chosen.nics && { nics: chosen.nics }) },
    unplugged: chosen.unplugged ?? [],
    leftOut: chosen.leftOut ?? [],
    ...(chosen.notByGpu && { notByGpu: chosen.notByGpu }),
  };
}

const isRdma = (provider: string): boolean => rdma.includes(provider.split(';')[0]!);

/** Nothing, which means every NIC, unless every rank has a GPU with NICs. */
async function nicsNearGpu(
  world: World,
  provider: string,
  { gpus }: FabricWish,
): Promise<NicChoice> {
  const mine = reportGpuRails(readMachine(), {
    ...localPlace(world),
    gpus,
    offered: offeredNics(provider),
  });
  const everyones = await world.allgather<GpuRailReport>('NICs near GPUs', mine);
  return agreeOnGpuRails(everyones, world);
}

/** Ranks of this host, in the order of their numbers there. */
function localPlace({ members, rank }: World): { localRank: number; localRanks: number } {
  const self = members[rank]!;
  const here = members.filter(
    ({ bootId, netns }) => bootId === self.bootId && netns === self.netns,
  );
  return { localRank: self.localRank, localRanks: here.length };
}

/** Who names NICs wants them used. */
async function chooseProvider(world: World, { nics }: FabricWish): Promise<string> {
  const everyones = await world.allgather('providers', askedAbout.filter(isOffered));
  const candidates = onOneHost(world) && !nics ? askedAbout : rdma;
  return candidates.find((name) => everyones.every((offered) => offered.includes(name))) ?? 'tcp';
}

async function chooseNics(
  world: World,
  provider: string,
  wanted: 'refuse' | 'leave-out',
): Promise<NicChoice> {
  if (provider === 'shm' || onOneHost(world)) return {};
  const reports = await world.allgather<RailReport>('rails', reportRails(listNics()));
  const broken = brokenRails(reports).map(({ rail, ranks }) => ({
    ...rail,
    hosts: [...new Set(ranks.map((rank) => world.hosts[rank]!))],
  }));
  const everyones = reports.map((report) => report.rails);
  const rails = commonRails(everyones);
  if (broken.length > 0 && (wanted === 'refuse' || rails.length === 0)) {
    await refuse(world, brokenError(broken));
  }
  if (rails.length === 0) {
    throw new WeftError('NO_PROVIDER', 'the hosts have no network in common', {
      hint: 'Name the interfaces with --nics, the same number on every host.',
    });
  }
  const nics = rails.map(
    (network) => everyones[world.rank]!.find((rail) => rail.network === network)!.nic,
  );
  return { nics, unplugged: broken.map(({ nic, hosts }) => ({ nic, hosts })) };
}

function brokenError(broken: readonly (Unplugged & { network: string })[]): WeftError {
  const sentences = broken.map(
    ({ nic, network, hosts }) => `rail ${nic} (${network}): no carrier on ${hosts.join(', ')}`,
  );
  const hint = 'Mend the link, or leave that rail out with --nics.';
  return new WeftError('UNREACHABLE', sentences.join('; '), { hint });
}

/** What every rank knows, one says: the others learn from rank 0's failure, which ends this barrier. */
async function refuse(world: World, error: WeftError): Promise<never> {
  if (world.rank !== 0) await world.barrier('refused');
  throw error;
}
