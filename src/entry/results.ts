/**
 * Run files: reading them, comparing two of them, and judging them as `weft check` does.
 *
 * @module
 */
export {
  type ComparedRow,
  type CompareOptions,
  type Comparison,
  compareRuns,
  isWorse,
  type Method,
  type Noise,
  type RowVerdict,
} from '../analysis/compare/compare.js';
export { type EarlierRun, earlierRunOf } from '../analysis/compare/earlier-runs.js';
export {
  type Expectation,
  type Limits,
  type MetricName,
  readExpectations,
} from '../analysis/verdict/expectations.js';
export { judge, type Source } from '../analysis/verdict/judge.js';
export type { Grade, Item, Verdict } from '../analysis/verdict/verdict.js';
export { type Machine, machineByName, machines } from '../reference/machines.js';
export { type Format, type FormatOptions, formatRun } from '../results/formats/format-run.js';
export type { NicTraffic, Path } from '../results/path.js';
export { parseRun, type ReadRun, readRun } from '../results/read-run.js';
export { mergeRepeats } from '../results/repeats.js';
export type { Labels, Outcome, Row, Run, RunHeader } from '../results/schema.js';
