import { WeftError } from '../errors.js';
import type { FabricOptions } from '../fabric/fabric.js';
import { listNics } from '../fabric/nics.js';
import { isOffered } from '../fabric/providers.js';
import { commonRails, railsOf } from './rails.js';
import type { World } from './world.js';

/** What the user asked for; whatever is absent is chosen. */
export interface FabricWish {
  readonly provider?: string;
  readonly nics?: readonly string[];
  readonly channels?: number;
}

const rdma = ['efa', 'verbs'];

/** Ranks can share memory when they run in one boot of one machine and see the same network. */
export function onOneHost({ members }: Pick<World, 'members'>): boolean {
  const [first] = members;
  return members.every(({ bootId, netns }) => bootId === first?.bootId && netns === first?.netns);
}

/**
 * The provider and NICs this rank opens; every rank calls it. RDMA where every rank has it, else shm on one host,
 * else tcp. Between hosts, channel k of every rank goes to the k-th network they have in common.
 */
export async function chooseFabric(world: World, wish: FabricWish): Promise<FabricOptions> {
  const provider = wish.provider ?? (await chooseProvider(world));
  if (provider === 'shm' && !onOneHost(world)) {
    throw new WeftError('BAD_USAGE', 'shm cannot join ranks of several hosts', {
      hint: 'Leave --provider out, or use tcp. Network namespaces count as hosts.',
    });
  }
  const channels = wish.channels === undefined ? {} : { channels: wish.channels };
  const nics = wish.nics ?? (await chooseNics(world, provider));
  return { provider, ...channels, ...(nics && { nics }) };
}

async function chooseProvider(world: World): Promise<string> {
  const mine = rdma.filter(isOffered);
  const everyones = await world.allgather('rdma providers', mine);
  const shared = rdma.find((name) => everyones.every((offered) => offered.includes(name)));
  return shared ?? (onOneHost(world) ? 'shm' : 'tcp');
}

async function chooseNics(world: World, provider: string): Promise<string[] | undefined> {
  if (provider === 'shm' || rdma.includes(provider.split(';')[0]!) || onOneHost(world)) {
    return undefined;
  }
  const everyones = await world.allgather('rails', railsOf(listNics()));
  const rails = commonRails(everyones);
  if (rails.length === 0) {
    throw new WeftError('NO_PROVIDER', 'the hosts have no network in common', {
      hint: 'Name the interfaces with --nics, the same number on every host.',
    });
  }
  return rails.map(
    (network) => everyones[world.rank]!.find((rail) => rail.network === network)!.nic,
  );
}
