import { figuresOf, isTooGood, oneToEachBytes } from '../../measure/figures.js';
import { median } from '../../measure/quantile.js';
import { summarize } from '../../measure/statistics.js';
import { allowedLineRateGbps, boundOfTraffic } from '../../plan/bound.js';
import type { Strategy } from '../../plan/strategies.js';
import type { Traffic } from '../../plan/traffic.js';
import type { Path } from '../../results/path.js';
import { measuredRow } from '../../results/rows.js';
import type { Breakdown, Labels, Row } from '../../results/schema.js';
import { tooGood } from '../../runner/row.js';
import { addChecked, type Checked, describeWrong } from '../../runner/verify.js';
import type { Session } from '../../session/session.js';
import type { Mode } from './modes.js';
import type { Timed } from './turns.js';

interface ProxyRowParts {
  readonly column: string;
  readonly strategy: Strategy;
  readonly mode: Mode;
  readonly bytes: number;
  readonly requests: number;
  readonly traffic: Traffic;
  readonly timed: Timed;
  readonly checked: readonly Checked[];
  /** The same of the same writes, initiated by the CPU. */
  readonly baseline: Timed | undefined;
  readonly breakdown: Breakdown | undefined;
  readonly labels: Labels;
  readonly path: Path | undefined;
}

export function proxyRow(parts: ProxyRowParts, { links, wiring }: Session): Row {
  const { strategy, mode, bytes, timed, baseline, breakdown } = parts;
  const { batch } = timed.count;
  const samples = timed.rounds.flat();
  const meanNanoseconds = summarize(samples, batch).mean;
  const figures = figuresOf({
    bytes: oneToEachBytes(bytes, parts.requests),
    meanNanoseconds,
    allowedGbps: allowedLineRateGbps(strategy, links),
    boundNanoseconds: boundOfTraffic(parts.traffic, strategy, links, wiring).nanoseconds,
  });
  const checked = addChecked(parts.checked);
  const failure =
    checked.wrong > 0 ? describeWrong(checked) : isTooGood(figures) ? tooGood : undefined;
  const compared = mode !== 'baseline' && baseline !== undefined;
  return measuredRow({
    column: parts.column,
    bytes,
    samples,
    batch,
    figures,
    labels: parts.labels,
    path: parts.path,
    checked: { bytes: checked.bytes, wrong: checked.wrong },
    failure,
    ...(compared && { lossPercent: lossPercent(baseline, timed) }),
    breakdown,
  });
}

/**
 * Of the baseline's rate, how much is lost: the median of what each round says. A connection that turns slow in the
 * middle of a run, as those over TCP do, thus counts against both or, in one round, for little.
 */
export function lossPercent(baseline: Timed, timed: Timed): number {
  const usual = mediansOf(baseline);
  const kept = mediansOf(timed).map((own, round) => usual[round]! / own);
  return 100 * (1 - median(kept));
}

/** Of an iteration, round by round. */
const mediansOf = ({ count, rounds }: Timed) =>
  rounds.map((samples) => median(samples) / count.batch);
