import { type Fabric, type FabricOptions, openFabric } from '../fabric/fabric.js';
import type { Gap } from '../results/diagnosis/gaps.js';
import { onOneHost } from '../world/choose-fabric.js';
import { connectFabric } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';
import { findGaps, refuseGaps, requireReach } from './reachability.js';

/** A rail that was left out must not make everyone wait as long as one that must work. */
const reportWithinMs = 4000;
const reportLongerByRankMs = 20;

/** A fabric on which every rail reaches every rank; where that may be, without the rails that do not. */
export async function openReaching(
  world: World,
  options: FabricOptions,
  timeoutMs: number,
  report: boolean,
): Promise<{ fabric: Fabric; left: Gap[] }> {
  const fabric = await openFabric({ ...options, peersExpected: world.size });
  try {
    await connectFabric(world, fabric);
    if (onOneHost(world)) return { fabric, left: [] };
    if (!report) {
      await requireReach(world, fabric, timeoutMs);
      return { fabric, left: [] };
    }
    const deadlineMs = Math.min(timeoutMs / 2, reportWithinMs + reportLongerByRankMs * world.size);
    const gaps = await findGaps(world, fabric, deadlineMs);
    if (gaps.length === 0) return { fabric, left: [] };
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
    const again = await openReaching(world, { ...rest, nics: good }, timeoutMs, report);
    return { fabric: again.fabric, left: [...left, ...again.left] };
  } catch (error) {
    await fabric.close();
    throw error;
  }
}
