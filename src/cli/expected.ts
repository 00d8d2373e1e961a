import { fabricOf } from '../analysis/normal/machine.js';
import type { Expected } from '../analysis/normal/normal.js';
import { benchmarkById } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { fabrics } from '../reference/fabrics.js';
import type { Machine } from '../reference/machines.js';
import { p5FabricAt } from '../reference/p5-fabric.js';
import type { Run } from '../results/schema.js';
import { predictLike } from '../runner/predict/predict-like.js';
import { option, text } from '../settings/option.js';
import type { FabricModel } from '../simulate/fabric-model.js';
import { fabricModel } from './fabric-model.js';
import { printError } from './output/print.js';

/** Larger worlds take so long to simulate that nobody should wait for it unasked. */
const mostRanks = 256;

/** What the model of a run's machine expects of it; undefined where Weft has no such model. */
export function expectedOf(run: Run): Expected | undefined {
  const fabric = fabricOf(run);
  return fabric && expectedIn(fabric, run);
}

function expectedIn(fabric: FabricModel, run: Run): Expected {
  const { ranks } = run.world;
  if (ranks <= mostRanks) return predictLike(run, fabric, benchmarkById);
  // `--model` knows the models that come with Weft by name, not those made of them.
  const how = fabrics.includes(fabric) ? ` (weft report --model ${fabric.name} does it)` : '';
  return { model: fabric.name, because: `simulating ${ranks} ranks takes long${how}` };
}

/** The same for runs on such a machine, whatever their header says. */
export const expectedOn =
  (machine: Machine) =>
  (run: Run): Expected =>
    expectedIn(p5FabricAt(machine), run);

/** What reports and charts of these runs show beside them. */
export interface Expectations {
  readonly expected: ReadonlyMap<string, Expected>;
  /** Predicted runs by the id of the measured one. */
  readonly models: ReadonlyMap<string, Run>;
}

/** What the model named `--model` expects of runs. What it cannot say is told on stderr; where that is all, refused. */
export function expectedByModel(runs: readonly Run[], name: string): Expectations {
  const fabric = fabricModel(name);
  const expected = new Map(runs.map((run) => [run.id, predictLike(run, fabric, benchmarkById)]));
  const models = new Map(
    [...expected].flatMap(([id, one]) => ('run' in one ? [[id, one.run] as const] : [])),
  );
  const refused = [...expected].flatMap(([id, one]) => ('because' in one ? [{ id, ...one }] : []));
  if (models.size === 0) {
    throw new WeftError('BAD_USAGE', `--model ${name}: ${refused[0]!.because}`, {
      hint: 'Leave --model out, or name a model of the fabric that was measured.',
    });
  }
  for (const { id, because } of refused) {
    printError(`weft: ${id} is shown without the model ${name}: ${because}\n`);
  }
  return { expected, models };
}

/** The same for `weft report` and `weft plot`. */
export const modelOption = option({
  flags: '--model <name>',
  help: 'also draw this model: p5, lab, or a file',
  kind: text,
});
