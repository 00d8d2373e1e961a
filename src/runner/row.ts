import type { MemoryLabel } from '../engine/engine.js';
import { figuresOf, isTooGood, ncclCollective } from '../measure/figures.js';
import type { Histogram } from '../measure/histogram.js';
import { isNoisy, type Summary, slowestPerIteration, summarize } from '../measure/statistics.js';
import { mean } from '../measure/summary.js';
import { gbpsOf } from '../measure/units.js';
import {
  allowedLineRateGbps,
  boundOfTraffic,
  busiestNicBytes,
  type Link,
  loadOfTraffic,
  rankLoads,
  type Wiring,
} from '../plan/bound.js';
import type { Plan } from '../plan/plan.js';
import type { Strategy } from '../plan/strategies.js';
import type { Path } from '../results/path.js';
import { measuredRow, skippedRow } from '../results/rows.js';
import type { PerRank, Row } from '../results/schema.js';
import type { PlanBenchmark, Turn } from './benchmark.js';
import type { Column } from './columns.js';
import { type PlanJob, situationOf } from './job.js';
import { addChecked, type Checked, describeWrong } from './verify.js';

/** What one turn gave: each rank's samples, by rank. */
export interface TurnSamples {
  readonly batch: number;
  readonly byRank: readonly Float64Array[];
  readonly marks?: Histogram | undefined;
}

/** What a row is about, and what it is held against. */
export interface RowSubject {
  readonly job: PlanJob;
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
}

interface RowParts extends RowSubject {
  readonly timed: readonly TurnSamples[];
  readonly checked: readonly Checked[];
  readonly path?: Path | undefined;
  /** Rank 0's, by turn. */
  readonly plans: readonly Plan[];
}

export const tooGood =
  'faster than the line rate: data took another path, or the line rate is wrong';
/** A row that moves less than so many bursts per NIC shows the shaper's bucket rather than its rate. */
const burstsToShow = 16;

/** Whether blocks of this size, spread like this, are too small for a shaper's burst to average out. */
export const isBurst = (
  strategy: Strategy,
  bytes: number,
  links: readonly Link[],
  burstBytes: number,
): boolean => strategy.split(bytes, links.length)[0]!.bytes < burstsToShow * burstBytes;

/** Of the bytes that the busiest NIC moves in an iteration, mean over turns, what a shaper lets through at once. */
function burstShare({ column, turns, links, wiring, burstBytes }: RowSubject): number {
  if (burstBytes === 0) return 0;
  const moved = mean(
    turns.map(({ traffic }) =>
      busiestNicBytes(loadOfTraffic(traffic, column.strategy, links.length, wiring), links),
    ),
  );
  return moved === 0 ? 0 : burstBytes / moved;
}

/** The samples that count: the initiator's, those of the rank that the turn names, or the slowest rank's of each iteration. */
function countedSamples(benchmark: PlanBenchmark, turn: Turn, { byRank }: TurnSamples): number[] {
  const rank = turn.clock ?? (benchmark.clock === 'slowest' ? undefined : 0);
  const counted = rank === undefined ? slowestPerIteration(byRank) : [...byRank[rank]!];
  return counted.map(Math.round);
}

/** A row is noisy when any of its turns is, each judged by itself. */
export const isNoisyRow = (
  benchmark: PlanBenchmark,
  turns: readonly Turn[],
  timed: readonly TurnSamples[],
): boolean =>
  // What lies within iterations is shown as a distribution: its spread is a result.
  timed.some((samples, index) => {
    const turn = turns[index]!;
    return !turn.within && isNoisy(countedSamples(benchmark, turn, samples));
  });

/** One row of the result, made on rank 0 from what every rank measured and found. */
export function rowOf(parts: RowParts): Row {
  const { timed, turns } = parts;
  const { benchmark } = parts.job;
  const batch = timed[0]!.batch;
  const byTurn = timed.map((turn, index) => countedSamples(benchmark, turns[index]!, turn));
  const samples = byTurn.filter((_, index) => !turns[index]!.reference).flat();
  if (samples.length === 0) return withoutSamples(parts);
  const nanoseconds = summarize(samples, batch);
  return measuredRow({
    ...judged(parts, nanoseconds.mean, parts.checked),
    ...ownFigures(parts, nanoseconds, byTurn),
    samples,
    batch,
    noisy: isNoisyRow(benchmark, turns, timed),
    path: parts.path,
    ...(benchmark.clock === 'slowest' ? { perRank: perRank(parts) } : { perPeer: perPeer(parts) }),
  });
}

const withoutSamples = ({ column, bytes, turns }: RowParts): Row =>
  skippedRow({
    ...{ column: column.name, bytes, outcome: 'failed' },
    reason: turns.find(({ within }) => within)?.within?.none ?? 'no iteration was timed',
  });

function ownFigures(
  { job, column, bytes, turns, timed, hosts, plans }: RowParts,
  nanoseconds: Summary,
  samples: readonly (readonly number[])[],
) {
  return job.benchmark.figures?.({
    situation: situationOf(job, hosts, bytes, column),
    ...{ turns, plans, nanoseconds, samples, batch: timed[0]!.batch },
    byRank: timed.map((turn) => turn.byRank),
    marks: timed.map((turn) => turn.marks),
  });
}

/** What a row says whatever its samples are: its figures from their mean, and whether it may be believed. */
export function judged(subject: RowSubject, meanNanoseconds: number, all: readonly Checked[]) {
  const { column, turns, links, bytes, memory, stagedBecause } = subject;
  const { benchmark } = subject.job;
  const figures = figuresOf({
    bytes: turns[0]!.figureBytes,
    meanNanoseconds,
    allowedGbps: allowedLineRateGbps(column.strategy, links),
    boundNanoseconds: boundOfTurns(subject),
  });
  const checked = addChecked(all);
  const { algorithm } = turns[0]!;
  const share = burstShare(subject);
  const burst = share * burstsToShow > 1;
  const fast = !burst && isTooGood(figures, share);
  const failure = checked.wrong > 0 ? describeWrong(checked) : fast ? tooGood : undefined;
  return {
    column: column.name,
    bytes,
    figures,
    roundTrip: benchmark.roundTrip ?? false,
    ...(algorithm !== undefined && { algorithm }),
    ...(benchmark.busFactor && {
      nccl: ncclCollective(bytes, benchmark.busFactor(subject.hosts.length), meanNanoseconds),
    }),
    checked: { bytes: checked.bytes, wrong: checked.wrong },
    labels: {
      memory,
      ...(stagedBecause !== undefined && { stagedBecause }),
      ...(burst && { burst }),
    },
    ...(failure !== undefined && { failure }),
  };
}

/** The mean over turns, as the row's time is; undefined where one is not known. */
function boundOfTurns({ turns, column, links, wiring }: RowSubject): number | undefined {
  if (turns.some(({ within }) => within)) return undefined;
  const bounds = turns.map(
    ({ traffic }) => boundOfTraffic(traffic, column.strategy, links, wiring).nanoseconds,
  );
  const known = bounds.filter((bound) => bound !== undefined);
  return known.length === bounds.length ? mean(known) : undefined;
}

/** Over all turns. */
function perRank({ timed, turns, column, links, wiring, hosts }: RowParts): PerRank[] {
  const loads = turns.map(({ traffic }) => rankLoads(traffic, column.strategy, links, wiring));
  return rankParts(
    hosts.map((_, rank) => {
      const samples = timed.flatMap(({ byRank }) => [...byRank[rank]!]);
      return summarize(samples, timed[0]!.batch);
    }),
    hosts,
    hosts.map((_, rank) => mean(loads.map((turn) => turn[rank]!))),
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

function perPeer({ job: { benchmark }, turns, timed }: RowParts) {
  return turns.flatMap((turn, index) => {
    if (!turn.pair) return [];
    const samples = countedSamples(benchmark, turn, timed[index]!);
    const nanoseconds = summarize(samples, timed[index]!.batch);
    const [from, to] = turn.pair;
    return [{ from, to, gbps: gbpsOf(turn.figureBytes.figure, nanoseconds.mean), nanoseconds }];
  });
}
