import type { PatternBuffer, RunOptions, ServingEngine } from '../../engine/engine.js';
import { isCrowded } from '../../engine/spinning.js';
import { oneToEach } from '../../plan/patterns/one-to-each.js';
import type { Plan } from '../../plan/plan.js';
import type { Strategy } from '../../plan/strategies.js';
import type { Traffic } from '../../plan/traffic.js';
import { transfersOf } from '../../plan/write-plan.js';
import type { Breakdown, Row } from '../../results/schema.js';
import { type Checked, verifyTurn } from '../../runner/verify.js';
import { pacingFor } from '../../session/pacing.js';
import type { Session } from '../../session/session.js';
import type { Settings } from '../../settings/table.js';
import type { Producers } from '../producers.js';
import { type Asking, breakdownOf, type Mode, runMode } from './modes.js';
import { proxyRow } from './row.js';
import { type Timed, timeModes } from './turns.js';

/** One strategy at one size, in several modes. */
interface ProxyGroup {
  readonly session: Session;
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

const mostTraced = 50;

/** Every rank calls it; rows come on rank 0. */
export async function measureGroup(group: ProxyGroup): Promise<Row[]> {
  const { session, engine, columns, producers } = group;
  const { world } = session;
  const plan = planOf(group);
  const asking = askingOf(group);
  const found = new Map<Mode, Checked[]>(columns.map(({ mode }) => [mode, []]));
  await checkAll(group, plan, asking, found);
  const { timed, path } = await timeModes(group, plan, asking);
  const breakdowns = await traceAll(group, plan, asking, timed);
  await checkAll(group, plan, asking, found);
  const everyones = await world.gather('checked', [...found.values()]);
  if (!everyones) return [];
  // Only shm has GPUs copy; a NIC reads and writes their memory by itself.
  const copied = engine.memory === 'direct' && session.fabric.provider === 'shm';
  const onOneGpu = copied && producers.shared;
  const rows = columns.map(({ name: column, mode }, index) =>
    proxyRow(
      {
        ...group,
        column,
        mode,
        timed: timed.get(mode)!,
        // The columns took turns, so the bytes are those of all of them: they stand in the first row.
        path: path && (index === 0 ? path : { ...path, nics: [] }),
        checked: everyones.flatMap((ofRank) => ofRank[index]!),
        baseline: timed.get('baseline'),
        breakdown: breakdowns.get(mode),
        labels: {
          memory: engine.memory,
          ...(mode !== 'baseline' && { producer: producers.kind }),
          ...(onOneGpu && { path: 'same GPU' as const }),
        },
      },
      session,
    ),
  );
  const failed = rows.some((row, i) => columns[i]!.mode === 'baseline' && row.outcome === 'failed');
  return failed ? rows.map(withoutLoss) : rows;
}

/** What the baseline lost or got wrong is nothing to hold others against. */
const withoutLoss = ({ lossPercent: _, ...row }: Row): Row => row;

function planOf({ session, settings, strategy, bytes, requests }: ProxyGroup): Plan {
  const { world, fabric } = session;
  const { chunkBytes, window } = pacingFor(fabric, settings, world.size);
  return oneToEach({
    world: world.size,
    from: 0,
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
  return {
    producers,
    count: producerCount,
    transfers: transfersOf(traffic, 0, strategy, session.fabric.channels.length),
    crowded: producers.kind === 'cpu' && isCrowded(session.world, producerCount),
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

async function traceAll(
  { engine, columns }: ProxyGroup,
  plan: Plan,
  asking: Asking,
  timed: ReadonlyMap<Mode, Timed>,
): Promise<Map<Mode, Breakdown>> {
  const found = new Map<Mode, Breakdown>();
  for (const { mode } of columns) {
    if (mode === 'baseline') continue;
    const { iterations, expectedMs } = timed.get(mode)!.count;
    const count = { iterations: Math.min(mostTraced, iterations), expectedMs };
    const traced = await runMode(engine, plan, mode, count, asking, { trace: true });
    if (engine.rank === 0) found.set(mode, breakdownOf(traced));
  }
  return found;
}

const once = { iterations: 1, batch: 1, expectedMs: 0 };

/**
 * As for every benchmark, but where producers ask for the writes they also make the data: what the source held before
 * is another pattern, so that a write that overtakes its data is found.
 */
function verifyMode(
  engine: ServingEngine,
  traffic: Traffic,
  plan: Plan,
  mode: Mode,
  asking: Asking,
  seed: number,
): Promise<Checked> {
  if (mode === 'baseline') return verifyTurn(engine, traffic, plan, seed);
  const { rank, target } = engine;
  const run = async (_: Plan, { expecting }: RunOptions) => {
    const how = { ...once, ...(expecting && { expecting }) };
    const { samples } = await runMode(engine, plan, mode, how, asking, { fill: seed });
    return samples;
  };
  const source = {
    fill: (own: number, range: object) => engine.source.fill(own + 1, range),
    writeNumbers: (...[kind, parts]: Parameters<PatternBuffer['writeNumbers']>) =>
      engine.source.writeNumbers(kind, parts),
  };
  return verifyTurn({ rank, source, target, run }, traffic, plan, seed);
}
