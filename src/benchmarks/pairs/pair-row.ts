import { railLabel } from '../../analysis/diagnosis/cells.js';
import { figuresOf, isTooGood, oneToEachBytes, pingPongBytes } from '../../measure/figures.js';
import { summarize } from '../../measure/statistics.js';
import { nanosecondsAt } from '../../measure/units.js';
import { allowedLineRateGbps, type Link } from '../../plan/bound.js';
import { multi } from '../../plan/strategies.js';
import { pairColumns } from '../../results/column-name.js';
import { measuredRow } from '../../results/rows.js';
import type { Row } from '../../results/schema.js';
import { isBurst, tooGood } from '../../runner/row.js';
import { describeWrong } from '../../runner/verify.js';
import type { Session } from '../../session/session.js';
import type { PairSamples } from './pair-meter.js';

/** The row of one directed pair. `alone` is a rail measured besides a matrix that is over all rails. */
export function pairRow(pair: PairSamples, session: Session, alone = false): Row {
  const { links, wiring, burstBytes, fabric, engine } = session;
  const { metric, from, to, rail, bytes, batch, samples, checked } = pair;
  const latency = metric === 'latency';
  const used = rail === undefined ? links : [links[rail]!];
  const inside = !wiring.localOverNics && wiring.hosts[from] === wiring.hosts[to];
  const figures = figuresOf({
    bytes: latency ? pingPongBytes(bytes) : oneToEachBytes(bytes),
    meanNanoseconds: summarize(samples, batch).mean,
    allowedGbps: inside || latency ? undefined : rateOf(used),
    boundNanoseconds: inside || latency ? undefined : boundNs(bytes, used),
  });
  const burst = isBurst(multi, bytes, used, burstBytes);
  const nics = fabric.channels.map(({ nic }) => nic);
  const failure =
    checked.wrong > 0 ? describeWrong(checked) : !burst && isTooGood(figures) ? tooGood : undefined;
  return measuredRow({
    kind: 'pair',
    column: pairColumns[alone ? 'rail' : metric],
    bytes,
    samples,
    batch,
    figures,
    roundTrip: latency,
    checked: { bytes: checked.bytes, wrong: checked.wrong },
    labels: {
      memory: engine.memory,
      from,
      to,
      ...(rail !== undefined && { rail: railLabel(nics, rail) }),
      ...(burst && { burst }),
    },
    failure,
    path: pair.path,
    resent: pair.resent,
  });
}

const rateOf = (links: readonly Link[]): number | undefined => allowedLineRateGbps(multi, links);

/** A block split over the links used, all at their line rate. */
function boundNs(bytes: number, links: readonly Link[]): number | undefined {
  const rate = rateOf(links);
  return rate === undefined ? undefined : nanosecondsAt(bytes, rate);
}
