/**
 * For benchmarks of your own: describe one, run it with `weft run FILE.mjs`, or measure it in a program.
 *
 * @module
 */
export type { FigureBytes } from '../measure/figures.js';
export { allToAllBytes, oneToEachBytes, pingPongBytes } from '../measure/figures.js';
export { type Bound, boundOfTraffic, type Link, type Wiring } from '../plan/bound.js';
export {
  type AllToAllV,
  type AroundCall,
  allToAllV,
  type Collective,
  type SizedCollective,
} from '../plan/collective.js';
export {
  type AllToAllMatrixTraffic,
  type AllToAllTraffic,
  allToAll,
  allToAllMatrix,
  allToAllMatrixTraffic,
  allToAllTraffic,
} from '../plan/patterns/all-to-all.js';
export {
  type OneToEachOptions,
  type OneToEachTraffic,
  oneToEach,
  oneToEachTraffic,
} from '../plan/patterns/one-to-each.js';
export {
  type PingPongOptions,
  type PingPongTraffic,
  pingPong,
  pingPongTraffic,
} from '../plan/patterns/ping-pong.js';
export type { Plan, PlanBuffer, PlanSlice, Step } from '../plan/plan.js';
export {
  multi,
  onChannel,
  type Piece,
  type Placement,
  roundRobin,
  type Strategy,
  single,
} from '../plan/strategies.js';
export { type Block, blockStride, type Traffic } from '../plan/traffic.js';
export { type Pacing, type WritePlanOptions, writePlan } from '../plan/write-plan.js';
export { measuredRow, skippedRow } from '../results/rows.js';
export type { Row } from '../results/schema.js';
export {
  type Benchmark,
  defineBenchmark,
  type OwnBenchmark,
  type PlanBenchmark,
  type PlanSituation,
  type Procedure,
  type Situation,
  type Turn,
} from '../runner/benchmark.js';
export { type Column, type ColumnMemory, columns, device, pinned } from '../runner/columns.js';
export { type MeasureOptions, measure } from '../runner/measure.js';
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
} from '../settings/option.js';
export type { Settings } from '../settings/table.js';
