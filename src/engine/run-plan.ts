import type { Fabric } from '../fabric/fabric.js';
import type { Registered, RemoteRegion } from '../fabric/region.js';
import type { NativeJob } from '../native/fabric.js';
import type { NativeProxyJob, NativeProxyResult, NativeTransferBoard } from '../native/tasks.js';
import { encodePlan } from '../plan/encode.js';
import { isRead, type Plan } from '../plan/plan.js';
import type { World } from '../world/world.js';
import type { RunOptions, ServeOptions, Silence } from './engine.js';
import { withPlaces } from './places.js';
import { proxySpinsWhenCrowded } from './spinning.js';

export interface FabricEngineOptions {
  readonly world: World;
  /** Connected to every rank of the world. */
  readonly fabric: Fabric;
  /** How long an iteration may make no end before it is given up. */
  readonly timeoutMs: number;
  /** Empty looks at the queues before the core is offered to others; 0 where ranks share cores. */
  readonly spinsBeforeYield: number;
}

export interface PlanMemory {
  readonly source: Registered;
  readonly target: Registered;
  /** Every rank's target. */
  readonly remotes: readonly RemoteRegion[];
  /** Every rank's source, where the ranks exchanged them. */
  readonly readable?: readonly RemoteRegion[] | undefined;
  /** What source and target stage, for plans with copies. */
  readonly device?: NativeJob['device'];
}

/** Executes a plan on a thread of its own; ends early when the world does. */
export function runPlan(
  options: FabricEngineOptions,
  memory: PlanMemory,
  plan: Plan,
  how: RunOptions,
): Promise<Float64Array> {
  const { port } = options.fabric;
  return running(options, memory, plan, how, async (job) => {
    const { watching, marks, expecting } = how;
    if (expecting && (watching || marks)) throw new TypeError('`expecting` stands alone');
    if (watching || marks) {
      const asked = {
        ...(marks && { marks: Uint32Array.from(marks.steps) }),
        ...(watching && { silenceMs: Math.ceil(watching.silenceMs) }),
      } as { marks: Uint32Array; silenceMs: number };
      const found = await port.drive((native) => native.run({ ...job, ...asked }));
      if (found.silences) watching?.heard(decodeSilences(found.silences));
      if (found.marks) marks?.heard(found.marks);
      return found.samples;
    }
    if (!expecting) return port.drive((native) => native.run(job));
    const { parts, late } = expecting;
    const numbers = parts.flatMap(({ offset, bytes, seed, position }) => [
      offset,
      bytes,
      seed,
      position,
    ]);
    const expected = Float64Array.from(numbers);
    const { samples, early } = await port.drive((native) => native.run({ ...job, expected }));
    if (early.wrong > 0) late(early);
    return samples;
  });
}

/** As native/plan-run.cc writes them. */
function decodeSilences(numbers: Float64Array): Silence[] {
  const silences: Silence[] = [];
  for (let at = 0; at < numbers.length; ) {
    const [start, duration, barrier, count] = numbers.subarray(at, at + 4);
    const open = Array.from({ length: count! }, (_, i) => {
      const [peer, channel, outgoing] = numbers.subarray(at + 4 + i * 3, at + 7 + i * 3);
      return {
        peer: peer!,
        channel: channel! < 0 ? undefined : channel,
        outgoing: outgoing === 1,
      };
    });
    silences.push({
      startMs: start! / 1e6,
      milliseconds: duration! / 1e6,
      barrier: barrier === 1,
      open,
    });
    at += 4 + count! * 3;
  }
  return silences;
}

/** The same, but the plan's writes start when producers ask for them. Only for the rank that has them. */
export function servePlan(
  options: FabricEngineOptions,
  memory: PlanMemory,
  plan: Plan,
  { crowded, ...how }: ServeOptions,
  proxy: NativeProxyJob,
): Promise<NativeProxyResult> {
  const spinning = crowded ? { ...options, spinsBeforeYield: proxySpinsWhenCrowded } : options;
  return running(spinning, memory, plan, how, (job) =>
    options.fabric.port.drive((native) => native.run({ ...job, proxy })),
  );
}

/** Carries out a plan's writes when somebody else's producers ask for them. Ends when their board is finished. */
export async function serveBoard(
  options: FabricEngineOptions,
  memory: PlanMemory,
  plan: Plan,
  board: NativeTransferBoard,
): Promise<void> {
  const { port } = options.fabric;
  await running(options, memory, plan, { iterations: 1 }, (job) =>
    port.drive((native) => native.run({ ...job, board })),
  );
}

async function running<T>(
  { fabric, world, timeoutMs, spinsBeforeYield }: FabricEngineOptions,
  memory: PlanMemory,
  plan: Plan,
  { iterations, batch = 1, expectedMs = 0 }: RunOptions,
  start: (job: NativeJob) => Promise<T>,
): Promise<T> {
  const { port } = fabric;
  if (!memory.readable && plan.steps.some(isRead)) {
    throw new TypeError('the plan reads from peers: prepare the engine with `readable: true`');
  }
  world.signal.throwIfAborted();
  const abort = () => port.native.abort();
  world.signal.addEventListener('abort', abort, { once: true });
  try {
    return await start({
      plan: encodePlan(plan),
      source: memory.source.region(port),
      target: memory.target.region(port),
      remotes: memory.remotes.map((remote) => remote.id),
      ...(memory.readable && { readable: memory.readable.map((remote) => remote.id) }),
      ...(memory.device && { device: memory.device }),
      iterations,
      batch,
      timeoutMs,
      expectedMs: Math.ceil(expectedMs),
      spinsBeforeYield,
    });
  } catch (error) {
    // When another rank failed, its reason is the one worth telling.
    if (world.signal.aborted) throw world.signal.reason;
    throw withPlaces(error, { hosts: world.hosts, nics: fabric.channels.map(({ nic }) => nic) });
  } finally {
    world.signal.removeEventListener('abort', abort);
  }
}
