import { extentOf } from '../measure/extent.js';
import { median } from '../measure/quantile.js';
import { formatNanoseconds, plural, rangeText, sizeText } from '../measure/units.js';
import { pairMetricOf, traitsOf } from '../results/column-name.js';
import type { Row, Run } from '../results/schema.js';
import { bestOf, isCounted, most, passed, ratedRows, rateOf } from './best-row.js';
import { texts } from './hydrate.js';
import { shapeOf } from './lines.js';

const gbps = texts.gbps!;
const percentage = (value: number): string => `${value.toFixed(1)} %`;

export function bestFinding(run: Run): string | undefined {
  const rate = rateOf([run]);
  const best = bestOf(ratedRows(run, rate), rate);
  if (best === undefined) return undefined;
  const configuration = [best.column, shapeOf(best.labels)].filter(Boolean).join(' ');
  const verb = run.model ? 'reaches' : 'reached';
  const reached = `${run.model ? 'PREDICTED, not measured: ' : ''}${run.benchmark} ${verb} ${rate.text(best)} with ${configuration}`;
  if (isCounted([run])) return `${reached}.`;
  const doubt = best.noisy ? ', but its samples vary widely' : '';
  return `${reached} at ${sizeText(best.bytes!)}${shareOf(best)}${doubt}.`;
}

function shareOf({ linePercent, ofBoundPercent, peakGbps }: Row): string {
  if (ofBoundPercent !== null) return `, ${percentage(ofBoundPercent)} of the best possible`;
  const whole = peakGbps === undefined ? 'the line rate' : 'its path’s peak';
  return linePercent === null ? '' : `, ${percentage(linePercent)} of ${whole}`;
}

/** Where a proxy sends: not which row was fastest, but what a request through the proxy costs. */
export function proxyFinding(run: Run): string | undefined {
  const keeps = (waits: 'nbi' | 'blocking'): string[] => {
    const kept = passed(run).flatMap(({ column, lossPercent }) =>
      lossPercent === undefined || traitsOf(column).waits !== waits ? [] : [100 - lossPercent],
    );
    return kept.length === 0 ? [] : [`${rangeText(kept, 0)} %`];
  };
  const parts = [
    ...keeps('nbi').map((share) => `NBI reaches ${share}`),
    ...keeps('blocking').map((share) => `blocking ${share}`),
  ];
  if (parts.length === 0) return undefined;
  return `${run.benchmark}: ${parts.join(', ')} of the rate of CPU-initiated writes.`;
}

export function fastestTime(run: Run): string {
  const rows = passed(run).filter((row) => row.bytes !== null);
  const best = most(rows, (row) => -row.nanoseconds!.mean);
  if (best === undefined) return '';
  const trip = best.halfRoundTripNanoseconds === undefined ? 'iteration' : 'round trip';
  const mean = formatNanoseconds(best.nanoseconds!.mean);
  const row = `(${best.column}, ${sizeText(best.bytes!)})`;
  if (run.model) return `The fastest row takes ${mean} per ${trip} in the model ${row}.`;
  return `The fastest row took ${mean} per ${trip} on average ${row}.`;
}

const slowShare = 0.8;

export function pairsFinding(run: Run): string | undefined {
  const rows = passed(run).filter((row) => row.gbps !== null && pairMetricOf(row) === 'bandwidth');
  const [, bytes] = extentOf(rows.map((row) => row.bytes ?? 0));
  const sorted = rows.filter((row) => row.bytes === bytes).sort((a, b) => a.gbps! - b.gbps!);
  const slowest = sorted[0];
  if (slowest === undefined) return undefined;
  const usual = median(sorted.map((row) => row.gbps!));
  const { from, to, rail } = slowest.labels;
  const name = `rank ${from} to rank ${to}${rail ? ` on ${rail}` : ''}`;
  const figures = `${plural(sorted.length, 'pair')} at ${sizeText(bytes)}: median ${gbps(usual)}, slowest ${gbps(slowest.gbps!)} (${name}).`;
  if (run.diagnosis !== undefined) return `${figures} ${conclusionOf(run.diagnosis)}`;
  const slow = sorted.filter((row) => row.gbps! < slowShare * usual).length;
  if (slow === 0) return figures;
  const share = percentage((slowest.gbps! / usual) * 100);
  return `${figures} Slow pairs: ${slow}; the slowest reaches ${share} of the median.`;
}

/** A diagnosis has measured suspects alone, and knows better than a comparison with the median. */
export function conclusionOf({ findings, notConfirmed }: NonNullable<Run['diagnosis']>): string {
  const differing = findings.filter(({ symptom }) => symptom === 'differs').length;
  const faults = findings.length - differing;
  const alike =
    differing === 0
      ? ''
      : ` The hosts differ in ${plural(differing, 'respect')} that should be equal.`;
  if (faults > 0) return `${plural(faults, 'fault')} found.${alike}`;
  return notConfirmed.length === 0
    ? `No fault found.${alike}`
    : `No fault found: every suspect was fine when measured alone.${alike}`;
}
