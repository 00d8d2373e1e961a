import { groupBy } from '../measure/group.js';
import { type Summary, weightedMean } from '../measure/summary.js';
import type { Path } from './path.js';
import type { Breakdown, PerPeer, PerRank, Row } from './schema.js';

/**
 * What repeats of a row say beyond their own samples, as one. Parts have no samples, so their means are exact and their
 * percentiles are means of the repeats' (docs/measuring.md); what not every repeat has is left out.
 */
export function partsOf(rows: readonly Row[]): Partial<Row> {
  const weights = rows.map((row) => row.iterations);
  const meanOf = (values: readonly number[] | undefined) => values && weightedMean(values, weights);
  return {
    lossPercent: meanOf(inAll(rows, (row) => row.lossPercent)),
    peakGbps: meanOf(inAll(rows, (row) => row.peakGbps)),
    resent: inAll(rows, (row) => row.resent)?.reduce((sum, count) => sum + count, 0),
    breakdown: mergedBreakdown(inAll(rows, (row) => row.breakdown)),
    perPeer: mergedPeers(inAll(rows, (row) => row.perPeer)?.flat(), rows.length),
    path: worstPath(rows),
    perRank: mergedRanks(inAll(rows, (row) => row.perRank)?.flat(), rows.length),
  };
}

/** Of repeats: one that was not as planned, else one that cannot be told, else the first. */
function worstPath(rows: readonly Row[]): Path | undefined {
  const paths = rows.flatMap(({ path }) => path ?? []);
  const judged = (asPlanned: boolean | null) => paths.find((path) => path.asPlanned === asPlanned);
  return judged(false) ?? judged(null) ?? paths[0];
}

/** Of every row, or undefined where one lacks it. */
function inAll<Value>(
  rows: readonly Row[],
  pick: (row: Row) => Value | undefined,
): Value[] | undefined {
  const values = rows.map(pick).filter((value) => value !== undefined);
  return values.length === rows.length ? values : undefined;
}

/** Repeats of a peer or rank count alike: rows do not say how many iterations each had. */
function mergedSummary(summaries: readonly Summary[]): Summary {
  const mean = (pick: (summary: Summary) => number) =>
    weightedMean(
      summaries.map(pick),
      summaries.map(() => 1),
    );
  return {
    min: Math.min(...summaries.map(({ min }) => min)),
    mean: mean((summary) => summary.mean),
    p50: mean(({ p50 }) => p50),
    p95: mean(({ p95 }) => p95),
    p99: mean(({ p99 }) => p99),
    max: Math.max(...summaries.map(({ max }) => max)),
    stddev: null,
    ci95: null,
  };
}

interface Part {
  readonly nanoseconds: Summary | null;
}

/** Groups of equal key with their times as one; parts without a time in every repeat have none. */
function merged<Of extends Part>(
  parts: readonly Of[],
  repeats: number,
  keyOf: (part: Of) => string,
) {
  return [...groupBy(parts, keyOf).values()].map((group) => {
    const times = group.flatMap(({ nanoseconds }) => nanoseconds ?? []);
    const nanoseconds = times.length === repeats ? mergedSummary(times) : null;
    return { first: group[0]!, nanoseconds };
  });
}

const mergedPeers = (peers: readonly PerPeer[] | undefined, repeats: number) =>
  peers &&
  merged(peers, repeats, ({ from, to }) => `${from} ${to}`).map(({ first, nanoseconds }) => ({
    ...first,
    nanoseconds,
    // As many bytes over another mean time.
    gbps:
      first.gbps === null || nanoseconds === null
        ? null
        : (first.gbps * first.nanoseconds!.mean) / nanoseconds.mean,
  }));

const mergedRanks = (ranks: readonly PerRank[] | undefined, repeats: number) =>
  ranks &&
  merged(ranks, repeats, ({ rank }) => String(rank)).map(({ first, nanoseconds }) => ({
    ...first,
    nanoseconds,
  }));

/** Stages that not every repeat has are left out. */
function mergedBreakdown(breakdowns: readonly Breakdown[] | undefined): Breakdown | undefined {
  const [first] = breakdowns ?? [];
  if (breakdowns === undefined || first === undefined) return undefined;
  const weights = breakdowns.map(({ requests }) => requests);
  const stages = first.stages.flatMap(({ name }) => {
    const same = breakdowns.flatMap((one) => one.stages.find((own) => own.name === name) ?? []);
    if (same.length < breakdowns.length) return [];
    const mean = (pick: 'p50' | 'p95') =>
      weightedMean(
        same.map((stage) => stage[pick]),
        weights,
      );
    return [{ name, p50: mean('p50'), p95: mean('p95') }];
  });
  return {
    stages,
    requests: weights.reduce((sum, count) => sum + count, 0),
    clockUncertaintyNanoseconds: Math.max(
      ...breakdowns.map((one) => one.clockUncertaintyNanoseconds),
    ),
  };
}
