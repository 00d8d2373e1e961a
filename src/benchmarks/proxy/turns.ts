import type { RunOptions, ServingEngine } from '../../engine/engine.js';
import type { Plan } from '../../plan/plan.js';
import type { Path } from '../../results/path.js';
import { type Count, calibrate } from '../../runner/timing.js';
import type { Session } from '../../session/session.js';
import type { Settings } from '../../settings/table.js';
import { type Asking, type Mode, runMode } from './modes.js';

export interface Timed {
  readonly count: Count;
  /** Samples, by the rounds in which the modes took turns. */
  readonly rounds: readonly (readonly number[])[];
}

interface TimedModes {
  readonly session: Session;
  readonly engine: ServingEngine;
  readonly settings: Settings;
  readonly columns: readonly { mode: Mode }[];
}

/** So often do the modes take turns, so that whatever drifts drifts under all of them. */
const mostRounds = 15;

/**
 * Each mode as often as the budget allows it: one may be many times slower than another. The path is that of all modes
 * together, since they take turns.
 */
export async function timeModes(
  { session: { world, path }, engine, settings, columns }: TimedModes,
  plan: Plan,
  asking: Asking,
): Promise<{ timed: Map<Mode, Timed>; path: Path | undefined }> {
  const turns: { mode: Mode; count: Count; rounds: number[][] }[] = [];
  const running = async (mode: Mode, options: RunOptions) =>
    (await runMode(engine, plan, mode, options, asking)).samples;
  for (const { mode } of columns) {
    if (settings.warmup > 0) await running(mode, { iterations: settings.warmup });
    const run = (_: Plan, options: RunOptions) => running(mode, options);
    const count = await calibrate({ run }, world, plan, settings, 1);
    turns.push({ mode, count, rounds: [] });
  }
  const rounds = Math.min(mostRounds, ...turns.map(({ count }) => samplesOf(count)));
  const loops = turns.map(({ count: { iterations } }) => ({ plan, iterations }));
  const { proof } = await path.around(loops, async () => {
    for (let round = 0; round < rounds; round++) {
      for (const { mode, count, rounds: kept } of turns) {
        const samples = await running(mode, partOf(count, round, rounds));
        kept.push([...samples].map(Math.round));
      }
      // Nobody always comes after the same one.
      turns.push(turns.shift()!);
    }
  });
  const timed = new Map(turns.map(({ mode, ...own }) => [mode, own]));
  return { timed, path: proof?.path };
}

const samplesOf = ({ iterations, batch }: Count) => iterations / batch;

/** One of the parts, as even as they can be. */
export function partOf(count: Count, part: number, parts: number): Count {
  const samples = samplesOf(count);
  const upTo = (end: number) => Math.floor((samples * end) / parts);
  const own = upTo(part + 1) - upTo(part);
  const expectedMs = (count.expectedMs * own) / samples;
  return { iterations: own * count.batch, batch: count.batch, expectedMs };
}
