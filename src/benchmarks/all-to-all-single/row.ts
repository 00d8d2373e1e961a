import { allToAllBytes, figuresOf, isTooGood, ncclExchange } from '../../measure/figures.js';
import { slowestPerIteration, summarize } from '../../measure/statistics.js';
import type { Missing } from '../../peers/open-peers.js';
import {
  allowedLineRateGbps,
  boundOfTraffic,
  type Link,
  rankLoads,
  type Wiring,
} from '../../plan/bound.js';
import type { Strategy } from '../../plan/strategies.js';
import type { Path } from '../../results/path.js';
import { measuredRow, skippedRow } from '../../results/rows.js';
import type { Row } from '../../results/schema.js';
import { isBurst, rankParts, tooGood } from '../../runner/row.js';
import { addChecked, describeWrong } from '../../runner/verify.js';
import type { BackendId } from './backend.js';
import type { Verified } from './contents.js';
import type { Exchange } from './exchange.js';

/** What one rank measured and found of one backend. */
export interface RankPart {
  readonly samples: readonly number[];
  readonly verified: readonly Verified[];
}

interface ExchangeRow {
  readonly id: BackendId;
  readonly exchange: Exchange;
  readonly hosts: readonly string[];
  /** Of the fabric; empty where there is none. */
  readonly links: readonly Link[];
  readonly wiring: Wiring;
  /** Of the fabric. */
  readonly strategy: Strategy;
  /** Of the shapers on the way; 0 without any. */
  readonly burstBytes: number;
  /** Undefined: the GPU's, by whatever way NCCL chose. */
  readonly memory: 'host' | 'pinned' | undefined;
  /** By rank. */
  readonly parts: readonly RankPart[];
  readonly path?: Path | undefined;
}

/** Bytes per peer: of an imbalance the mean of the busiest rank, rounded. */
const bytesPerPeer = (exchange: Exchange): number =>
  Math.round(exchange.busiestBytes(true) / exchange.world);

/** The best time the links allow; undefined where a rate is not known. */
export const boundOfExchange = (
  exchange: Exchange,
  strategy: Strategy,
  links: readonly Link[],
  wiring: Wiring,
): number | undefined =>
  links.length === 0
    ? undefined
    : boundOfTraffic(exchange.traffic(), strategy, links, wiring).nanoseconds;

/** One row of the result, made on rank 0. A sample is the slowest rank's time of that exchange. */
export function rowOfExchange(row: ExchangeRow): Row {
  const { id, exchange, strategy, hosts, parts } = row;
  const samples = slowestPerIteration(parts.map((part) => Float64Array.from(part.samples))).map(
    Math.round,
  );
  const bytes = bytesPerPeer(exchange);
  const meanNanoseconds = summarize(samples).mean;
  // The bound is that of the fabric's links: what others use is their own affair.
  const links = id === 'fabric' ? row.links : [];
  const figures = figuresOf({
    bytes: { ...allToAllBytes(bytes, exchange.world), line: exchange.busiestBytes(false) },
    meanNanoseconds,
    allowedGbps: links.length === 0 ? undefined : allowedLineRateGbps(strategy, links),
    boundNanoseconds: boundOfExchange(exchange, strategy, links, row.wiring),
  });
  const verified = parts.flatMap((part) => part.verified);
  const checked = addChecked(verified);
  const burst = links.length > 0 && isBurst(strategy, bytes, links, row.burstBytes);
  const failure =
    checked.wrong > 0 ? describe(verified) : !burst && isTooGood(figures) ? tooGood : undefined;
  return measuredRow({
    column: id,
    bytes,
    samples,
    figures,
    nccl: ncclExchange(exchange.busiestBytes(true), exchange.busiestBytes(false), meanNanoseconds),
    checked: { bytes: checked.bytes, wrong: checked.wrong },
    labels: { ...(row.memory && { memory: row.memory }), ...(burst && { burst }) },
    failure,
    path: row.path,
    perRank: rankParts(
      parts.map((part) => summarize(part.samples)),
      hosts,
      rankLoads(exchange.traffic(), strategy, row.links, row.wiring),
    ),
  });
}

function describe(verified: readonly Verified[]): string {
  const { bytes, wrong } = addChecked(verified);
  const element = verified.find((one) => one.wrongElement !== undefined)?.wrongElement;
  if (element === undefined) return describeWrong(addChecked(verified));
  return `${wrong} of ${bytes} bytes are wrong: ${element}`;
}

export const rowOfMissing = ({ id, outcome, reason }: Missing<BackendId>): Row =>
  skippedRow({ column: id, outcome, reason });
