import { WeftError } from '../errors.js';
import { isOffered } from '../fabric/providers.js';
import { onOneHost } from '../world/same-host.js';
import type { World } from '../world/world.js';
import type { FabricWish } from './fabric-wish.js';
import { refuseTogether } from './refuse-together.js';

const rdma = ['efa', 'verbs'];
const askedAbout = [...rdma, 'shm'];

/** The provider of every rank: the one asked for, else RDMA where every rank has it, else shm on one host, else tcp. */
export async function agreeOnProvider(world: World, wish: FabricWish): Promise<string> {
  const provider = wish.provider ?? (await commonProvider(world, wish));
  if (provider === 'shm' && !onOneHost(world)) {
    const hint = 'Leave `provider` out, or use tcp. Network namespaces count as hosts.';
    await refuseTogether(
      world,
      new WeftError('BAD_USAGE', 'shm cannot connect ranks on different hosts', { hint }),
    );
  }
  return provider;
}

/** Who names NICs wants them used. */
async function commonProvider(world: World, { nics, socketNics }: FabricWish): Promise<string> {
  const everyones = await world.allgather('providers', askedAbout.filter(isOffered));
  const named = nics !== undefined || socketNics !== undefined;
  const candidates = onOneHost(world) && !named ? askedAbout : rdma;
  return candidates.find((name) => everyones.every((offered) => offered.includes(name))) ?? 'tcp';
}
