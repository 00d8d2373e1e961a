import type { Fabric } from '../fabric/fabric.js';
import type { RegionDescription, Registered, RemoteRegion } from '../fabric/region.js';
import type { World } from './world.js';

/** Tells every rank of the world where the others' endpoints are. Every rank calls it once per fabric. */
export async function connectFabric(world: World, fabric: Fabric): Promise<void> {
  fabric.connect(world.rank, await world.allgather('fabric addresses', fabric.addresses));
}

/** Every rank's buffer, by rank, as this rank can write to it. */
export async function exchangeRegions(
  world: World,
  fabric: Fabric,
  buffer: Pick<Registered, 'describe'>,
): Promise<RemoteRegion[]> {
  const all = await world.allgather<RegionDescription>('fabric regions', buffer.describe());
  return all.map((description) => fabric.remote(description));
}
