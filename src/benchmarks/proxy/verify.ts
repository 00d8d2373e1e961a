import type { RunOptions, ServingEngine } from '../../engine/engine.js';
import type { Plan } from '../../plan/plan.js';
import type { Traffic } from '../../plan/traffic.js';
import { type Checked, verifyTurn } from '../../runner/verify.js';
import { type Asking, type Mode, runMode } from './modes.js';

const once = { iterations: 1, batch: 1, expectedMs: 0 };

/**
 * As for every benchmark, but where producers ask for the writes they also make the data: what the source held before
 * is another pattern, so that a write that overtakes its data is found.
 */
export function verifyMode(
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
  const source = { fill: (own: number, range: object) => engine.source.fill(own + 1, range) };
  return verifyTurn({ rank, source, target, run }, traffic, plan, seed);
}
