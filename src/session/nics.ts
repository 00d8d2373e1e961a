import { namesOf } from '../analysis/hosts/differences.js';
import { WeftError } from '../errors.js';
import { listNics } from '../fabric/nics.js';
import { isRdma, offeredNics } from '../fabric/providers.js';
import { readMachine } from '../world/launch/machine.js';
import { onOneHost, sameHost } from '../world/same-host.js';
import type { World } from '../world/world.js';
import type { FabricWish, GapPolicy } from './fabric-wish.js';
import { agreeOnGpuRails, type GpuRailReport, reportGpuRails } from './gpu-rails.js';
import {
  type BrokenRail,
  brokenRails,
  commonRails,
  lackingRails,
  type RailReport,
  reportRails,
} from './rails.js';
import { refuseTogether } from './refuse-together.js';
import { distinct, NoRail, type UnusedNic } from './unused-nic.js';

export interface NicChoice {
  /** This rank's, rail by rail. Absent: the provider's own choice. */
  readonly nics?: readonly string[];
  readonly unused: readonly UnusedNic[];
  /** Why every NIC is used although some ranks have NICs near their GPUs. */
  readonly nicsNotByGpu?: string;
}

/**
 * Rail k of every rank meets rail k of every other. Between hosts that is the k-th network they have in common; with
 * RDMA and GPUs, the k-th of the NICs nearest a rank's GPU. An interface without a carrier is refused, or told.
 */
export async function agreeOnNics(
  world: World,
  provider: string,
  { nics, gpus }: Pick<FabricWish, 'nics' | 'gpus'>,
  gaps: GapPolicy = 'refuse',
): Promise<NicChoice> {
  if (provider === 'shm' && nics) {
    const hint = 'Leave `nics` out, or set `provider` to tcp.';
    await refuseTogether(world, new WeftError('BAD_USAGE', 'shm uses no NICs', { hint }));
  }
  if (nics) return { nics, unused: [] };
  if (isRdma(provider)) return nicsNearGpus(world, provider, gpus);
  return provider === 'shm' || onOneHost(world) ? { unused: [] } : commonNics(world, gaps);
}

async function nicsNearGpus(
  world: World,
  provider: string,
  gpus: FabricWish['gpus'],
): Promise<NicChoice> {
  const { members, rank } = world;
  const self = members[rank]!;
  const offered = offeredNics(provider);
  const mine = reportGpuRails(readMachine(), {
    localRank: self.localRank,
    localRanks: members.filter((member) => sameHost(member, self)).length,
    gpus,
    offered,
  });
  const everyones = await world.allgather<GpuRailReport>('NICs near GPUs', mine);
  return agreeOnGpuRails(everyones, world);
}

async function commonNics(world: World, gaps: GapPolicy): Promise<NicChoice> {
  const reports = await world.allgather<RailReport>('rails', reportRails(listNics()));
  const broken = brokenRails(reports, world.hosts);
  const everyones = reports.map((report) => report.rails);
  const rails = commonRails(everyones);
  const unused = broken.flatMap(({ nic, hosts }) =>
    hosts.map((host) => ({ nic, host, reason: 'no-carrier', text: 'no carrier' }) as const),
  );
  if (broken.length > 0 && (gaps === 'refuse' || rails.length === 0)) {
    await refuseTogether(world, brokenError(broken, unused), gaps);
  }
  if (rails.length === 0) {
    throw new WeftError('NO_PROVIDER', 'the hosts have no network in common', {
      hint: 'Name the interfaces with `nics`, the same number on every host.',
    });
  }
  const nics = rails.map(
    (network) => everyones[world.rank]!.find((rail) => rail.network === network)!.nic,
  );
  const lacking = lackingRails(everyones, rails).flatMap(({ nic, network, having, without }) => {
    const names = [...new Set(without.map((rank) => world.hosts[rank]!))];
    const text = `${namesOf(names)} ${names.length === 1 ? 'has' : 'have'} no interface on ${network}`;
    return having.map((rank): UnusedNic => {
      const host = world.hosts[rank]!;
      return { nic, host, reason: 'fewer-elsewhere', text, peer: names[0]! };
    });
  });
  return { nics, unused: distinct([...unused, ...lacking]) };
}

function brokenError(broken: readonly BrokenRail[], unused: readonly UnusedNic[]): WeftError {
  const sentences = broken.map(
    ({ nic, network, hosts }) => `rail ${nic} (${network}): no carrier on ${hosts.join(', ')}`,
  );
  return new WeftError('UNREACHABLE', sentences.join('; '), {
    hint: 'Repair the link, or leave that rail out with `nics`.',
    cause: new NoRail(unused),
  });
}
