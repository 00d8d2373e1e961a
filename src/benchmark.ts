/** For benchmarks of your own: describe one, run it with `weft run FILE.mjs`, or measure it in a program. */

export type { Plan, Step } from './plan/plan.js';
export { multi, roundRobin, type Strategy, single } from './plan/strategies.js';
export { type Block, blockStride, type Traffic } from './plan/traffic.js';
export { writePlan } from './plan/write-plan.js';
export { measuredRow, skippedRow } from './results/rows.js';
export {
  type Benchmark,
  defineBenchmark,
  type OwnBenchmark,
  type PlanBenchmark,
  type PlanSituation,
  type Procedure,
  type Situation,
  type Turn,
} from './runner/benchmark.js';
export { type Column, columns, device, pinned } from './runner/columns.js';
export { type MeasureOptions, measure } from './runner/measure.js';
export {
  choice,
  names,
  numberAbove,
  numbers,
  type Option,
  onOff,
  option,
  size,
  text,
  type ValueKind,
  wholeNumber,
} from './settings/option.js';
