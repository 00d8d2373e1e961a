import { railColumn } from '../analysis/diagnosis/cells.js';
import { groupBy } from '../measure/group.js';
import { median } from '../measure/quantile.js';
import { formatBytes, formatNanoseconds, plural, rangeText } from '../measure/units.js';
import { type Note, noisyMark, notesOf } from '../results/formats/notes.js';
import type { Row, Run } from '../results/schema.js';
import { bestOf, isCounted, most, passed, ratedRows, rateOf } from './best-row.js';
import { extentOf } from './chart.js';
import type { Against } from './comparison.js';
import { texts } from './hydrate.js';
import { shapeOf } from './lines.js';
import { runNames } from './run-names.js';
import { againstText, severalFinding } from './several-runs.js';

export interface Point {
  readonly kind: Note['kind'] | 'good';
  readonly text: string;
}

export interface Answer {
  /** The finding in a sentence per benchmark. */
  readonly headline: string;
  /** What belongs beside it; may be empty. */
  readonly lead: string;
  readonly points: readonly Point[];
}

const gbps = texts.gbps!;
const percentage = (value: number): string => `${value.toFixed(1)} %`;

/**
 * What a reader came for, and what should make them doubt it. Nothing here is not in the rows, or for several runs in
 * `comparisons`.
 */
export function answerOf(runs: readonly Run[], comparisons: readonly Against[] = []): Answer {
  const groups = [...groupBy(runs, (run) => run.benchmark)].map(([benchmark, group]) => ({
    group,
    against: comparisons.filter((one) => one.benchmark === benchmark),
  }));
  const [only] = runs;
  return {
    headline: groups.map(({ group, against }) => groupFinding(group, against)).join(' '),
    lead: runs.length === 1 ? quickest(only!) : '',
    points:
      runs.length === 1
        ? [...diagnosed(only!), ...notesFor(only!).map((note) => pointOf(note, only!))]
        : groups.flatMap(({ group, against }) => doubtsOf(group, against)),
  };
}

function groupFinding(runs: readonly Run[], against: readonly Against[]): string {
  if (runs.length === 1) return findingOf(runs[0]!);
  const names = runNames(runs);
  const bad = runs.flatMap((run, i) => troubleOf(run, `${run.benchmark} (${names[i]})`) ?? []);
  return [...bad, severalFinding(runs, against)].join(' ');
}

function findingOf(run: Run): string {
  const bad = troubleOf(run, run.benchmark);
  const found = isPairs(run) ? pairsFinding(run) : (proxyFinding(run) ?? bestFinding(run));
  if (found === undefined) return bad ?? `${run.benchmark} measured nothing: ${whyNothing(run)}.`;
  return bad === undefined ? found : `${bad} ${found}`;
}

/** What went wrong comes first. */
function troubleOf({ outcome, rows }: Run, name: string): string | undefined {
  const failed = rows.filter((row) => row.outcome === 'failed').length;
  const wrong = rows.some((row) => row.checked.wrong > 0);
  if (wrong) return `${name} delivered wrong data.`;
  if (outcome === 'aborted') return `${name} did not finish: these are partial results.`;
  return failed === 0 ? undefined : `${plural(failed, 'row')} of ${name} failed.`;
}

const whyNothing = ({ rows, errors }: Run): string =>
  errors[0]?.message ?? rows.find((row) => row.reason !== undefined)?.reason ?? 'it has no rows';

function bestFinding(run: Run): string | undefined {
  const rate = rateOf([run]);
  const best = bestOf(ratedRows(run, rate), rate);
  if (best === undefined) return undefined;
  const configuration = [best.column, shapeOf(best.labels)].filter(Boolean).join(' ');
  if (isCounted([run])) return `${run.benchmark} moved ${rate.text(best)} with ${configuration}.`;
  return `${run.benchmark} reached ${rate.text(best)} with ${configuration} at ${formatBytes(best.bytes!)}${shareOf(best)}${best.noisy ? ', though its samples spread widely' : ''}.`;
}

/** Not who was fastest, but what asking costs. */
function proxyFinding(run: Run): string | undefined {
  const keeps = (ending: string): string | undefined => {
    const kept = passed(run).flatMap(({ column, lossPercent }) =>
      lossPercent === undefined || !column.endsWith(ending) ? [] : [100 - lossPercent],
    );
    return kept.length === 0 ? undefined : `${rangeText(kept, 0)} %`;
  };
  const [nbi, blocking] = [keeps('NBI'), keeps('Blocking')];
  const parts = [
    ...(nbi === undefined ? [] : [`NBI keeps ${nbi}`]),
    ...(blocking === undefined ? [] : [`blocking ${nbi === undefined ? 'keeps ' : ''}${blocking}`]),
  ];
  if (parts.length === 0) return undefined;
  return `${run.benchmark}: of the rate that the CPU’s own writes reach, ${parts.join(', ')}.`;
}

function shareOf({ linePercent, ofBoundPercent, peakGbps }: Row): string {
  if (ofBoundPercent !== null)
    return `, ${percentage(ofBoundPercent)} of what its plan could reach`;
  const whole = peakGbps === undefined ? 'the line' : 'its path’s peak';
  return linePercent === null ? '' : `, ${percentage(linePercent)} of ${whole}`;
}

function quickest(run: Run): string {
  const rows = passed(run).filter((row) => row.kind === 'transfer' && row.bytes !== null);
  const best = most(rows, (row) => -row.nanoseconds!.mean);
  if (best === undefined) return '';
  const trip = best.halfRoundTripNanoseconds === undefined ? 'an iteration' : 'a round trip';
  return `The quickest row took ${formatNanoseconds(best.nanoseconds!.mean)} for ${trip}, on average (${best.column}, ${formatBytes(best.bytes!)}).`;
}

const isPairs = (run: Run): boolean => run.rows.some((row) => row.kind === 'pair');

/** A pair this far below the median is named. */
const slowShare = 0.8;

function pairsFinding(run: Run): string | undefined {
  const rows = passed(run).filter(
    ({ kind, gbps: rate, halfRoundTripNanoseconds: half, column }) =>
      kind === 'pair' && rate !== null && half === undefined && column !== railColumn,
  );
  const [, bytes] = extentOf(rows.map((row) => row.bytes ?? 0));
  const sorted = rows.filter((row) => row.bytes === bytes).sort((a, b) => a.gbps! - b.gbps!);
  const slowest = sorted[0];
  if (slowest === undefined) return undefined;
  const usual = median(sorted.map((row) => row.gbps!));
  const slow = sorted.filter((row) => row.gbps! < slowShare * usual).length;
  const name = ({ labels: { from, to, rail } }: Row) =>
    `rank ${from} to rank ${to}${rail ? ` on ${rail}` : ''}`;
  const middle = `${plural(sorted.length, 'pair')} at ${formatBytes(bytes)}: the median is ${gbps(usual)}`;
  if (run.diagnosis !== undefined) {
    return `${middle}, the slowest (${name(slowest)}) ${gbps(slowest.gbps!)}. ${verdictOf(run.diagnosis)}`;
  }
  if (slow === 0) return `${middle}, the slowest (${name(slowest)}) ${gbps(slowest.gbps!)}.`;
  return `${middle}, and ${slow} ${slow === 1 ? 'is' : 'are'} slow. The slowest is ${name(slowest)} with ${gbps(slowest.gbps!)}, ${percentage((slowest.gbps! / usual) * 100)} of the median.`;
}

/** A diagnosis has measured suspects alone, and knows better than a comparison with the median. */
function verdictOf({ findings, notConfirmed }: NonNullable<Run['diagnosis']>): string {
  if (findings.length > 0) return `${plural(findings.length, 'fault')} found.`;
  return notConfirmed.length === 0
    ? 'No fault was found.'
    : 'What looked slow was not when measured alone.';
}

/** What the run's own diagnosis found, and what to look at. */
const diagnosed = ({ diagnosis }: Run): Point[] =>
  (diagnosis?.findings ?? []).map(({ evidence, next }) => ({
    kind: 'bad',
    text: `${evidence} ${next}`,
  }));

/** A page has charts for details. */
const notesFor = (run: Run): Note[] => notesOf(run).filter(({ kind }) => kind !== 'detail');

const isVerified = ({ kind, text }: Note): boolean =>
  kind === 'plain' && text.startsWith('verified');

/** A table explains its mark for noise; a list says how many rows have it. */
function pointOf({ kind, text }: Note, { rows }: Run): Point {
  if (isVerified({ kind, text })) return { kind: 'good', text };
  if (!text.startsWith(noisyMark)) return { kind, text };
  const noisy = rows.filter((row) => row.noisy).length;
  return {
    kind,
    text: `${noisy} of ${plural(rows.length, 'row')} are noisy: their samples spread widely (${noisyMark})`,
  };
}

/** Of several runs: how each compares with the first, and only what is wrong or in doubt. */
function doubtsOf(runs: readonly Run[], against: readonly Against[]): Point[] {
  const { benchmark } = runs[0]!;
  const names = runNames(runs).map((name) => [benchmark, name].filter(Boolean).join(', '));
  const compared = runs.length > 2 ? against.flatMap((one) => againstText(one) ?? []) : [];
  const notes = runs.map(notesFor);
  const verified = notes.every((list) => list.some(isVerified));
  return [
    ...compared.map((text): Point => ({ kind: 'plain', text: `${benchmark}: ${text}` })),
    ...runs.flatMap(diagnosed),
    ...notes.flatMap((list, i) =>
      list
        .filter(({ kind }) => kind !== 'plain')
        .map((note) => pointOf(note, runs[i]!))
        .map(({ kind, text }): Point => ({ kind, text: `${names[i]}: ${text}` })),
    ),
    ...(verified ? [{ kind: 'good' as const, text: `${benchmark}: verified, no byte wrong` }] : []),
  ];
}
