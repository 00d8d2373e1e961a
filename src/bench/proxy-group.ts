import { cpus } from 'node:os';
import type { ServingEngine } from '../engine/engine.js';
import { oneToEach } from '../plan/patterns/one-to-each.js';
import type { Plan } from '../plan/plan.js';
import type { Strategy } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import { transfersOf } from '../plan/transfers.js';
import type { Breakdown, Row } from '../results/schema.js';
import type { Producers } from './producers.js';
import { type Asking, breakdownOf, type Mode, runMode } from './proxy-modes.js';
import { proxyRow } from './proxy-row.js';
import { verifyMode } from './proxy-verify.js';
import { pacingFor, type Session } from './session.js';
import type { Settings } from './settings.js';
import { type Count, calibrate } from './timing.js';
import { peersOf } from './turns.js';
import type { Checked } from './verify.js';

/** One strategy at one size, in several modes. */
export interface ProxyGroup {
  readonly session: Session;
  /** Where the data lies. */
  readonly engine: ServingEngine;
  readonly settings: Settings;
  readonly producers: Producers;
  readonly producerCount: number;
  readonly requests: number;
  readonly strategy: Strategy;
  readonly bytes: number;
  readonly traffic: Traffic;
  readonly columns: readonly { name: string; mode: Mode }[];
  /** A seed that no other check of the run uses. */
  nextSeed(): number;
}

/** So often do the modes take turns, so that whatever drifts drifts under all of them. */
const mostRounds = 15;
const mostTraced = 50;

/** Every rank calls it; rows come on rank 0. */
export async function measureGroup(group: ProxyGroup): Promise<Row[]> {
  const { session, engine, settings, columns } = group;
  const { world } = session;
  const plan = planOf(group);
  const asking = askingOf(group);
  const rounds = new Map<Mode, number[][]>(columns.map(({ mode }) => [mode, []]));
  const found = new Map<Mode, Checked[]>(columns.map(({ mode }) => [mode, []]));
  await checkAll(group, plan, asking, found);
  const count = await calibrate(engine, world, plan, settings, 1);
  await timeAll(group, plan, asking, count, rounds);
  const breakdowns = await traceAll(group, plan, asking, count);
  await checkAll(group, plan, asking, found);
  const everyones = await world.gather('checked', [...found.values()]);
  if (!everyones) return [];
  return columns.map(({ name: column, mode }, index) =>
    proxyRow(
      {
        ...group,
        column,
        mode,
        rounds: rounds.get(mode)!,
        batch: count.batch,
        checked: everyones.flatMap((ofRank) => ofRank[index]!),
        baseline: rounds.get('baseline'),
        breakdown: breakdowns.get(mode),
        labels: {
          memory: engine.memory,
          ...(mode !== 'baseline' && { producer: group.producers.kind }),
        },
      },
      session,
    ),
  );
}

function planOf({ session, settings, strategy, bytes, requests }: ProxyGroup): Plan {
  const { world, fabric } = session;
  const { chunkBytes, window } = pacingFor(fabric, settings, world.size);
  return oneToEach({
    world: world.size,
    from: 0,
    to: peersOf(world.size),
    bytes,
    buffers: requests,
    rank: world.rank,
    channels: fabric.channels.length,
    strategy,
    chunkBytes,
    window,
  });
}

function askingOf({ session, producers, producerCount, strategy, traffic }: ProxyGroup): Asking {
  const { members } = session.world;
  const here = members.filter((member) => member.bootId === members[0]!.bootId).length;
  return {
    producers,
    count: producerCount,
    transfers: transfersOf(traffic, 0, strategy, session.fabric.channels.length),
    crowded: producers.kind === 'cpu' && here + producerCount > cpus().length,
  };
}

async function checkAll(
  { engine, settings, traffic, nextSeed }: ProxyGroup,
  plan: Plan,
  asking: Asking,
  found: ReadonlyMap<Mode, Checked[]>,
): Promise<void> {
  if (!settings.check) return;
  for (const [mode, checked] of found) {
    checked.push(await verifyMode(engine, traffic, plan, mode, asking, nextSeed()));
  }
}

async function timeAll(
  { engine, settings: { warmup } }: ProxyGroup,
  plan: Plan,
  asking: Asking,
  { iterations, batch, expectedMs }: Count,
  rounds: ReadonlyMap<Mode, number[][]>,
): Promise<void> {
  const warm: Count = { iterations: warmup, batch: 1, expectedMs: 0 };
  for (const mode of warmup > 0 ? rounds.keys() : []) {
    await runMode(engine, plan, mode, warm, asking);
  }
  const samples = iterations / batch;
  const modes = [...rounds.keys()];
  for (const share of sharesOf(samples, Math.min(samples, mostRounds))) {
    const part = { iterations: share * batch, batch, expectedMs: (expectedMs * share) / samples };
    for (const mode of modes) {
      const run = await runMode(engine, plan, mode, part, asking);
      rounds.get(mode)!.push([...run.samples].map(Math.round));
    }
    // Nobody always comes after the same one.
    modes.push(modes.shift()!);
  }
}

/** A whole number in as many parts, as even as they can be. */
function sharesOf(total: number, parts: number): number[] {
  const upTo = (part: number) => Math.floor((total * part) / parts);
  return Array.from({ length: parts }, (_, part) => upTo(part + 1) - upTo(part));
}

async function traceAll(
  { engine, columns }: ProxyGroup,
  plan: Plan,
  asking: Asking,
  timed: Count,
): Promise<Map<Mode, Breakdown>> {
  const found = new Map<Mode, Breakdown>();
  const iterations = Math.min(mostTraced, timed.iterations);
  const count: Count = { iterations, batch: 1, expectedMs: timed.expectedMs };
  for (const { mode } of columns) {
    if (mode === 'baseline') continue;
    const traced = await runMode(engine, plan, mode, count, asking, { trace: true });
    if (engine.rank === 0) found.set(mode, breakdownOf(traced));
  }
  return found;
}
