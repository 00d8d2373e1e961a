import type { Fabric } from '../fabric/fabric.js';
import type { Registered, RemoteRegion } from '../fabric/region.js';
import type { NativeJob } from '../native/addon.js';
import { encodePlan } from '../plan/encode.js';
import type { Plan } from '../plan/plan.js';
import type { World } from '../world/world.js';
import type { RunOptions } from './engine.js';

export interface FabricEngineOptions {
  readonly world: World;
  /** Connected to every rank of the world. */
  readonly fabric: Fabric;
  /** How long an iteration may make no end before it is given up. */
  readonly timeoutMs: number;
  /** Empty looks at the queues before the core is offered to others; 0 where ranks share cores. */
  readonly spinsBeforeYield: number;
  /** Tests only: what the executor does wrong on purpose. */
  readonly sabotage?: NativeJob['sabotage'];
}

/** What a plan's buffers are on this rank. */
export interface PlanMemory {
  readonly source: Registered;
  readonly target: Registered;
  /** Every rank's target, by rank. */
  readonly remotes: readonly RemoteRegion[];
  /** What source and target stage, for plans with copies. */
  readonly device?: NativeJob['device'];
}

/** Executes a plan on a thread of its own; ends early when the world does. */
export async function runPlan(
  { fabric, world, timeoutMs, spinsBeforeYield, sabotage }: FabricEngineOptions,
  memory: PlanMemory,
  plan: Plan,
  { iterations, batch = 1, expectedMs = 0 }: RunOptions,
): Promise<Float64Array> {
  const { port } = fabric;
  world.signal.throwIfAborted();
  const abort = () => port.native.abort();
  world.signal.addEventListener('abort', abort, { once: true });
  try {
    return await port.run({
      plan: encodePlan(plan),
      source: memory.source.region(port),
      target: memory.target.region(port),
      remotes: memory.remotes.map((remote) => remote.id),
      ...(memory.device && { device: memory.device }),
      iterations,
      batch,
      timeoutMs,
      expectedMs: Math.ceil(expectedMs),
      spinsBeforeYield,
      ...(sabotage && { sabotage }),
    });
  } catch (error) {
    // When another rank failed, its reason is the one worth telling.
    throw world.signal.aborted ? world.signal.reason : error;
  } finally {
    world.signal.removeEventListener('abort', abort);
  }
}
