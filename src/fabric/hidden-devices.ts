import { list } from '../topology/sysfs-files.js';
import { listNics } from './nics.js';

/** What to do about a container that sees RDMA devices and has no way to open them. */
export const nodesHint =
  'Give the container the devices: --device=/dev/infiniband (Docker), or the resource vpc.amazonaws.com/efa (Kubernetes).';

/** RDMA devices that the kernel shows and this process cannot open: a container without /dev/infiniband. */
export function devicesWithoutNodes(): string[] {
  const devices = listNics().flatMap(({ name, kind, emulated }) =>
    kind === 'rdma' && !emulated ? [name] : [],
  );
  const openable = list('/dev/infiniband').some((name) => /^uverbs\d/.test(name));
  return openable ? [] : devices;
}
