import { type Fabric, type FabricOptions, openFabric } from '../fabric/fabric.js';
import type { World } from '../world/world.js';

export interface UsableOptions {
  /** The user named the NICs: then each of them must open. */
  readonly asked: boolean;
  /** Tests give one that fails as broken devices do. */
  readonly open?: (options: FabricOptions) => Promise<Fabric>;
}

export interface UsableFabric {
  readonly fabric: Fabric;
  /** Sentences: which NIC of which host was left out, and why. */
  readonly unopened: readonly string[];
}

interface Trouble {
  readonly rail: number;
  readonly text: string;
}

/**
 * Opens this rank's NICs; every rank calls it. One broken device must not hide the others: a rail that some rank
 * cannot open is left out for all, so that rail k still meets rail k. If nothing would be left, or the user asked for
 * these NICs, the failure stands.
 */
export async function openUsable(
  world: World,
  options: FabricOptions,
  { asked, open = openFabric }: UsableOptions,
): Promise<UsableFabric> {
  const { nics } = options;
  if (asked || nics === undefined || nics.length < 2) {
    return { fabric: await open(options), unopened: [] };
  }
  const first = await attempt(() => open(options));
  const mine = 'error' in first ? await troublesOf(nics, options, open) : [];
  const everyones = await world.allgather<readonly Trouble[]>('NICs that do not open', mine);
  const bad = new Set(everyones.flat().map(({ rail }) => rail));
  const good = nics.filter((_, rail) => !bad.has(rail));
  if (bad.size === 0 || good.length === 0) {
    if ('error' in first) throw first.error;
    return { fabric: first.value, unopened: [] };
  }
  if ('value' in first) await first.value.close();
  const { channels: _, ...rest } = options;
  const unopened = everyones.flatMap((troubles, rank) =>
    troubles.map(({ text }) => `${text} (${world.hosts[rank]})`),
  );
  return { fabric: await open({ ...rest, nics: good }), unopened: [...new Set(unopened)] };
}

async function troublesOf(
  nics: readonly string[],
  options: FabricOptions,
  open: (options: FabricOptions) => Promise<Fabric>,
): Promise<Trouble[]> {
  const { channels: _, ...rest } = options;
  const troubles: Trouble[] = [];
  for (const [rail, nic] of nics.entries()) {
    const tried = await attempt(() => open({ ...rest, nics: [nic] }));
    if ('value' in tried) await tried.value.close();
    else troubles.push({ rail, text: `${nic} does not open: ${messageOf(tried.error)}` });
  }
  return troubles;
}

async function attempt<T>(work: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
