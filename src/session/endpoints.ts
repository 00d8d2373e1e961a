import { messageOf } from '../errors.js';
import { type Fabric, type FabricOptions, openFabric } from '../fabric/fabric.js';
import type { World } from '../world/world.js';
import type { UnusedNic } from './unused-nic.js';

export interface OpenedFabric {
  readonly fabric: Fabric;
  readonly unused: readonly UnusedNic[];
}

/** A rail on which this rank could not open an endpoint. */
interface Trouble {
  readonly rail: number;
  readonly nic: string;
  readonly message: string;
}

/**
 * Opens this rank's endpoints; every rank calls it. One broken device must not hide the others: a rail that some rank
 * cannot open is left out for all, so that rail k still meets rail k. If nothing would be left, or the user named the
 * NICs, the failure stands.
 */
export async function openEndpoints(
  world: World,
  options: FabricOptions,
  named: boolean,
): Promise<OpenedFabric> {
  const { nics } = options;
  if (named || nics === undefined || nics.length < 2) {
    return { fabric: await openFabric(options), unused: [] };
  }
  const first = await attempt(options);
  const mine = 'error' in first ? await troublesOf(nics, options) : [];
  const everyones = await world.allgather<readonly Trouble[]>('NICs that do not open', mine);
  const bad = new Set(everyones.flat().map(({ rail }) => rail));
  const good = nics.filter((_, rail) => !bad.has(rail));
  if (bad.size === 0 || good.length === 0) {
    if ('error' in first) throw first.error;
    return { fabric: first.fabric, unused: [] };
  }
  if ('fabric' in first) await first.fabric.close();
  const unused = everyones.flatMap((troubles, rank) =>
    troubles.map(({ nic, message }): UnusedNic => {
      const text = `cannot be opened: ${message}`;
      return { nic, host: world.hosts[rank]!, reason: 'does-not-open', text };
    }),
  );
  return { fabric: await openFabric(onNics(options, good)), unused };
}

/** The same on these NICs, with one channel for each. */
export function onNics(options: FabricOptions, nics: readonly string[]): FabricOptions {
  const { channels: _, ...rest } = options;
  return { ...rest, nics };
}

async function troublesOf(nics: readonly string[], options: FabricOptions): Promise<Trouble[]> {
  const troubles: Trouble[] = [];
  for (const [rail, nic] of nics.entries()) {
    const tried = await attempt(onNics(options, [nic]));
    if ('fabric' in tried) await tried.fabric.close();
    else troubles.push({ rail, nic, message: messageOf(tried.error) });
  }
  return troubles;
}

async function attempt(options: FabricOptions): Promise<{ fabric: Fabric } | { error: unknown }> {
  try {
    return { fabric: await openFabric(options) };
  } catch (error) {
    return { error };
  }
}
