import type { Gap } from '../analysis/diagnosis/gaps.js';
import type { Fabric, FabricOptions } from '../fabric/fabric.js';
import { connectFabric } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';
import { onOneHost } from './choose-fabric.js';
import { openUsable } from './open-usable.js';
import { findGaps, refuseGaps, requireReach } from './reachability.js';

/** A rail that was left out must not make everyone wait as long as one that must work. */
const reportWithinMs = 4000;
const reportLongerByRankMs = 20;

export interface ReachingOptions {
  readonly timeoutMs: number;
  /** Leave out rails that do not reach everyone, and tell of them, instead of giving up. */
  readonly report: boolean;
  /** The user named the NICs. */
  readonly asked: boolean;
}

export interface ReachingFabric {
  readonly fabric: Fabric;
  readonly left: readonly Gap[];
  /** NICs that some rank could not open, in sentences. */
  readonly unopened: readonly string[];
}

/** A fabric on which every rail reaches every rank; where that may be, without the rails that do not. */
export async function openReaching(
  world: World,
  options: FabricOptions,
  how: ReachingOptions,
): Promise<ReachingFabric> {
  const { timeoutMs, report } = how;
  const wanted = { ...options, peersExpected: world.size };
  const { fabric, unopened } = await openUsable(world, wanted, how);
  try {
    await connectFabric(world, fabric);
    if (onOneHost(world)) return { fabric, left: [], unopened };
    if (!report) {
      await requireReach(world, fabric, timeoutMs);
      return { fabric, left: [], unopened };
    }
    const deadlineMs = Math.min(timeoutMs / 2, reportWithinMs + reportLongerByRankMs * world.size);
    const gaps = await findGaps(world, fabric, deadlineMs);
    if (gaps.length === 0) return { fabric, left: [], unopened };
    const nics = fabric.channels.map(({ nic }) => nic);
    const good = nics.filter((_, rail) => !gaps.some((gap) => gap.rail === rail));
    if (good.length === 0) await refuseGaps(world, fabric, gaps);
    const left = gaps.map(({ rail, from, to }) => ({
      nic: nics[rail]!,
      from: world.hosts[from]!,
      to: world.hosts[to]!,
    }));
    await fabric.close();
    const { channels: _, ...rest } = options;
    const again = await openReaching(world, { ...rest, nics: good }, how);
    return { fabric: again.fabric, left: [...left, ...again.left], unopened };
  } catch (error) {
    await fabric.close();
    throw error;
  }
}
