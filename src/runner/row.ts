import type { MemoryLabel } from '../engine/engine.js';
import { figuresOf, isTooGood } from '../measure/figures.js';
import { isNoisy, type Summary, slowestPerIteration, summarize } from '../measure/statistics.js';
import { gbpsOf } from '../measure/units.js';
import {
  allowedLineRateGbps,
  boundOfTraffic,
  type Link,
  rankLoads,
  type Wiring,
} from '../plan/bound.js';
import type { Strategy } from '../plan/strategies.js';
import type { Path } from '../results/path.js';
import { measuredRow } from '../results/rows.js';
import type { PerRank, Row } from '../results/schema.js';
import type { PlanBenchmark, Turn } from './benchmark.js';
import type { Column } from './columns.js';
import { addChecked, type Checked, describeWrong } from './verify.js';

/** What one turn gave: each rank's samples, by rank. */
export interface TurnSamples {
  readonly batch: number;
  readonly byRank: readonly Float64Array[];
}

interface RowParts {
  readonly benchmark: PlanBenchmark;
  readonly column: Column;
  readonly bytes: number;
  readonly links: readonly Link[];
  readonly wiring: Wiring;
  readonly hosts: readonly string[];
  /** Of the shapers on the way; 0 without any. */
  readonly burstBytes: number;
  /** What the buffers really were. */
  readonly memory: MemoryLabel;
  readonly stagedBecause: string | undefined;
  readonly turns: readonly Turn[];
  readonly timed: readonly TurnSamples[];
  readonly checked: readonly Checked[];
  readonly path?: Path | undefined;
}

export const tooGood =
  'faster than the line rate: data took another path, or the line rate is wrong';
/** A row whose pieces are smaller than so many bursts shows the shaper's bucket rather than its rate. */
const burstsToShow = 16;

/** Whether blocks of this size, spread like this, are too small for a shaper's burst to average out. */
export const isBurst = (
  strategy: Strategy,
  bytes: number,
  links: readonly Link[],
  burstBytes: number,
): boolean => strategy.split(bytes, links.length)[0]!.bytes < burstsToShow * burstBytes;

/** The samples that count: the initiator's, or the slowest rank's of each iteration. */
function countedSamples(benchmark: PlanBenchmark, { byRank }: TurnSamples): number[] {
  const counted = benchmark.clock === 'slowest' ? slowestPerIteration(byRank) : [...byRank[0]!];
  return counted.map(Math.round);
}

/** A row is noisy when any of its turns is, each judged by itself. */
export const isNoisyRow = (benchmark: PlanBenchmark, timed: readonly TurnSamples[]): boolean =>
  timed.some((turn) => isNoisy(countedSamples(benchmark, turn)));

/** One row of the result, made on rank 0 from what every rank measured and found. */
export function rowOf(parts: RowParts): Row {
  const { benchmark, column, turns, timed, links } = parts;
  const batch = timed[0]!.batch;
  const samples = timed.flatMap((turn) => countedSamples(benchmark, turn));
  const meanNanoseconds = summarize(samples, batch).mean;
  const figures = figuresOf({
    bytes: turns[0]!.figureBytes,
    meanNanoseconds,
    allowedGbps: allowedLineRateGbps(column.strategy, links),
    boundNanoseconds: boundOfTraffic(turns[0]!.traffic, column.strategy, links, parts.wiring)
      .nanoseconds,
  });
  const checked = addChecked(parts.checked);
  const burst = isBurst(column.strategy, parts.bytes, links, parts.burstBytes);
  const failure =
    checked.wrong > 0 ? describeWrong(checked) : !burst && isTooGood(figures) ? tooGood : undefined;
  return measuredRow({
    column: column.name,
    bytes: parts.bytes,
    samples,
    batch,
    figures,
    roundTrip: benchmark.roundTrip ?? false,
    checked: { bytes: checked.bytes, wrong: checked.wrong },
    noisy: isNoisyRow(benchmark, timed),
    labels: {
      memory: parts.memory,
      ...(parts.stagedBecause !== undefined && { stagedBecause: parts.stagedBecause }),
      ...(burst && { burst }),
    },
    ...(failure !== undefined && { failure }),
    path: parts.path,
    ...(benchmark.clock === 'slowest' ? { perRank: perRank(parts) } : { perPeer: perPeer(parts) }),
  });
}

function perRank({ timed, turns, column, links, wiring, hosts }: RowParts): PerRank[] {
  const { byRank, batch } = timed[0]!;
  const loads = rankLoads(turns[0]!.traffic, column.strategy, links, wiring);
  return rankParts(
    byRank.map((samples) => summarize([...samples], batch)),
    hosts,
    loads,
  );
}

/** What each rank measured, and how much it had to do where that differs. All are by rank. */
export function rankParts(
  summaries: readonly Summary[],
  hosts: readonly string[],
  loads: readonly number[],
): PerRank[] {
  const uneven = loads.some((load) => load !== loads[0]);
  return summaries.map((nanoseconds, rank) => ({
    rank,
    ...(hosts[rank] !== undefined && { host: hosts[rank] }),
    nanoseconds,
    ...(uneven && { load: loads[rank]! }),
  }));
}

function perPeer({ benchmark, turns, timed }: RowParts) {
  return turns.flatMap((turn, index) => {
    if (!turn.pair) return [];
    const nanoseconds = summarize(countedSamples(benchmark, timed[index]!), timed[index]!.batch);
    const [from, to] = turn.pair;
    return [{ from, to, gbps: gbpsOf(turn.figureBytes.figure, nanoseconds.mean), nanoseconds }];
  });
}
