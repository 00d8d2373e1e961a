import { adds, type Collective } from '../plan/collective.js';
import { agreeOnNics } from '../session/nics.js';
import { onOneHost } from '../world/same-host.js';
import type { World } from '../world/world.js';
import { openPeer } from './open-peer.js';
import { orUnavailable, type Peer, type PeerJob, together, Unavailable } from './peer.js';
import { howToBuild, requireShim } from './shims.js';

/** Why gloo cannot carry out a collective. */
export function glooRefusal(collective: Collective): string | undefined {
  if (collective.kind === 'reduce-scatter') {
    return 'gloo has no out-of-place reduce-scatter: use mpi or nccl';
  }
  if (!adds(collective) || collective.dtype !== 'bfloat16') return undefined;
  return 'gloo cannot add bfloat16 numbers: use float32, float16 or int32';
}

/** gloo over TCP, as PyTorch's CPU backend uses it. */
export async function openGloo(job: PeerJob): Promise<Peer> {
  const { world, interfaces } = job;
  const [path] = await together(world, 'gloo shim', () => requireShim('gloo', 'gloo'));
  const networkInterface = interfaces[0] ?? (await commonInterface(world));
  return openPeer(job, {
    id: 'gloo',
    path: path!,
    networkInterface,
    unavailable: (reason) => `gloo could not be loaded (${reason}): ${howToBuild('gloo')}`,
    hint: () =>
      `gloo used interface ${networkInterface}. Choose another with \`iface\` or GLOO_SOCKET_IFNAME.`,
  });
}

/** gloo uses one interface: on one host loopback, else that of the first network all hosts have in common. */
async function commonInterface(world: World): Promise<string> {
  if (onOneHost(world)) return 'lo';
  const { nics } = await orUnavailable('NO_PROVIDER', () => agreeOnNics(world, 'tcp', {}));
  const [nic] = nics ?? [];
  if (nic === undefined)
    throw new Unavailable('the hosts share no network for gloo: choose an interface with `iface`');
  return nic;
}
