import { agreeOnNics } from '../../session/nics.js';
import { onOneHost } from '../../world/same-host.js';
import type { World } from '../../world/world.js';
import { type Backend, type BackendJob, orUnavailable, together, Unavailable } from './backend.js';
import { openPeer } from './peer-backend.js';
import { howToBuild, requireShim } from './shims.js';

/** gloo over TCP, as PyTorch's CPU backend uses it. */
export async function openGloo(job: BackendJob): Promise<Backend> {
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
