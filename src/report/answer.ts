import { railColumn } from '../results/diagnosis/cells.js';
import { type Note, noisyMark, notesOf } from '../results/formats/notes.js';
import type { Row, Run } from '../results/schema.js';
import { comparisonOf } from './comparison.js';
import { groupBy } from './group.js';
import { bytesText, nanosecondsText, texts } from './hydrate.js';
import { runNames } from './run-names.js';

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
const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** What a reader came for, and what should make them doubt it. Nothing here is not in the rows. */
export function answerOf(runs: readonly Run[]): Answer {
  const groups = [...groupBy(runs, (run) => run.benchmark).values()];
  const [only] = runs;
  return {
    headline: groups.map(groupFinding).join(' '),
    lead: runs.length === 1 ? quickest(only!) : '',
    points:
      runs.length === 1
        ? [...diagnosed(only!), ...notesOf(only!).map((note) => pointOf(note, only!))]
        : groups.flatMap((group) => doubtsOf(group)),
  };
}

function groupFinding(runs: readonly Run[]): string {
  const [first, second, ...more] = runs;
  if (second === undefined) return findingOf(first!);
  const { benchmark } = first!;
  if (more.length > 0) return fastestOf(runs);
  const [against] = againstFirst(runs);
  return against === undefined
    ? `${benchmark}: the two runs have no row in common.`
    : `${benchmark}: ${against}.`;
}

function fastestOf(runs: readonly Run[]): string {
  const names = runNames(runs);
  const bests = runs.map((run, i) => ({ name: names[i]!, row: bestRow(run) }));
  const rated = bests.filter((best) => best.row !== undefined);
  const { benchmark } = runs[0]!;
  if (rated.length === 0) return `${benchmark}: none of the ${runs.length} runs has a rate.`;
  const { name, row } = rated.reduce((a, b) => (b.row!.gbps! > a.row!.gbps! ? b : a));
  return `${benchmark}: of ${runs.length} runs, ${name} is the fastest with ${rateOf(row!)} (${row!.column}, ${bytesText(row!.bytes!)}).`;
}

function findingOf(run: Run): string {
  const bad = troubleOf(run);
  const found = isPairs(run) ? pairsFinding(run) : bestFinding(run);
  if (found === undefined) return bad ?? `${run.benchmark} measured nothing: ${whyNothing(run)}.`;
  return bad === undefined ? found : `${bad} ${found}`;
}

/** What went wrong comes first. */
function troubleOf({ benchmark, outcome, rows }: Run): string | undefined {
  const failed = rows.filter((row) => row.outcome === 'failed').length;
  const wrong = rows.some((row) => row.checked.wrong > 0);
  if (wrong) return `${benchmark} delivered wrong data.`;
  if (outcome === 'aborted') return `${benchmark} did not finish: these are partial results.`;
  return failed === 0 ? undefined : `${plural(failed, 'row')} of ${benchmark} failed.`;
}

const whyNothing = ({ rows, errors }: Run): string =>
  errors[0]?.message ?? rows.find((row) => row.reason !== undefined)?.reason ?? 'it has no rows';

const passed = (run: Run): Row[] =>
  run.rows.filter((row) => row.outcome === 'passed' && row.nanoseconds !== null);

const most = (rows: readonly Row[], value: (row: Row) => number): Row | undefined =>
  rows.reduce<Row | undefined>(
    (a, b) => (a === undefined || value(b) > value(a) ? b : a),
    undefined,
  );

/** The fastest row. Those that only show a shaper's burst say nothing about the line, and count last. */
function bestRow(run: Run): Row | undefined {
  const rated = passed(run).filter((row) => row.bytes !== null && row.gbps !== null);
  const steady = rated.filter((row) => !row.labels.burst);
  return most(steady.length > 0 ? steady : rated, (row) => row.gbps!);
}

function bestFinding(run: Run): string | undefined {
  const best = bestRow(run);
  const counted = most(passed(run), (row) => row.mops ?? 0);
  if (counted?.mops !== undefined) {
    return `${run.benchmark} moved ${texts.mops!(counted.mops)} with ${counted.column}.`;
  }
  if (best === undefined) return undefined;
  return `${run.benchmark} reached ${rateOf(best)} with ${best.column} at ${bytesText(best.bytes!)}${shareOf(best)}${best.noisy ? ', though its samples spread widely' : ''}.`;
}

/** In an all-to-all the figure is per peer, and what a rank sent in all is said beside it. */
function rateOf({ gbps: rate, lineGbps }: Row): string {
  if (lineGbps === null || Math.abs(lineGbps - rate!) < 1e-6 * rate!) return gbps(rate!);
  return `${gbps(rate!)} per peer (${gbps(lineGbps)} sent by each rank)`;
}

function shareOf({ linePercent, ofBoundPercent }: Row): string {
  if (ofBoundPercent !== null)
    return `, ${percentage(ofBoundPercent)} of what its plan could reach`;
  return linePercent === null ? '' : `, ${percentage(linePercent)} of the line`;
}

function quickest(run: Run): string {
  const rows = passed(run).filter((row) => row.kind === 'transfer' && row.bytes !== null);
  const best = most(rows, (row) => -row.nanoseconds!.mean);
  if (best === undefined) return '';
  const trip = best.halfRoundTripNanoseconds === undefined ? 'iteration' : 'round trip';
  return `The shortest ${trip} took ${nanosecondsText(best.nanoseconds!.mean)} (${best.column}, ${bytesText(best.bytes!)}).`;
}

const isPairs = (run: Run): boolean => run.rows.some((row) => row.kind === 'pair');

/** A pair this far below the median is named. */
const slowShare = 0.8;

function pairsFinding(run: Run): string | undefined {
  const rows = passed(run).filter(
    ({ kind, gbps: rate, halfRoundTripNanoseconds: half, column }) =>
      kind === 'pair' && rate !== null && half === undefined && column !== railColumn,
  );
  const bytes = Math.max(...rows.map((row) => row.bytes ?? 0));
  const sorted = rows.filter((row) => row.bytes === bytes).sort((a, b) => a.gbps! - b.gbps!);
  const slowest = sorted[0];
  if (slowest === undefined) return undefined;
  const median = sorted[Math.floor(sorted.length / 2)]!.gbps!;
  const slow = sorted.filter((row) => row.gbps! < slowShare * median).length;
  const name = ({ labels: { from, to, rail } }: Row) =>
    `rank ${from} to rank ${to}${rail ? ` on ${rail}` : ''}`;
  const middle = `${plural(sorted.length, 'pair')} at ${bytesText(bytes)}: the median is ${gbps(median)}`;
  if (run.diagnosis !== undefined) {
    return `${middle}, the slowest (${name(slowest)}) ${gbps(slowest.gbps!)}. ${verdictOf(run.diagnosis)}`;
  }
  if (slow === 0) return `${middle}, the slowest (${name(slowest)}) ${gbps(slowest.gbps!)}.`;
  return `${middle}, and ${slow} ${slow === 1 ? 'is' : 'are'} slow. The slowest is ${name(slowest)} with ${gbps(slowest.gbps!)}, ${percentage((slowest.gbps! / median) * 100)} of the median.`;
}

/** A diagnosis has measured suspects alone, and knows better than a comparison with the median. */
function verdictOf({ findings, notConfirmed }: NonNullable<Run['diagnosis']>): string {
  if (findings.length > 0) return `${plural(findings.length, 'fault')} found.`;
  return notConfirmed.length === 0
    ? 'No fault was found.'
    : 'What looked slow was not when measured alone.';
}

/** Each run against the first, row by row; what counts as a difference is `isClear`'s to say. */
function againstFirst(runs: readonly Run[]): string[] {
  const { names, rows } = comparisonOf(runs);
  return names.slice(1).flatMap((name, i) => {
    const index = i + 1;
    const both = rows.filter((row) => row.ratios[index] !== undefined);
    if (both.length === 0) return [];
    const logs = both.map((row) => Math.log(row.ratios[index]!));
    const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
    const apart = both.filter((row) => row.clear[index]);
    const faster = apart.filter((row) => row.ratios[index]! > 1).length;
    const rest = both.length - apart.length;
    const unclear = rest === 0 ? '' : `, no clear difference in ${rest}`;
    return [
      `${name} ${timesText(mean)} ${names[0]} (faster in ${faster} of ${plural(both.length, 'row')}, slower in ${apart.length - faster}${unclear})`,
    ];
  });
}

function timesText(ratio: number): string {
  if (ratio > 0.995 && ratio < 1.005) return 'is as fast as';
  return `runs at ${ratio.toFixed(2)} times the rate of`;
}

/** What the run's own diagnosis found, and what to look at. */
const diagnosed = ({ diagnosis }: Run): Point[] =>
  (diagnosis?.findings ?? []).map(({ evidence, next }) => ({
    kind: 'bad',
    text: `${evidence} ${next}`,
  }));

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
function doubtsOf(runs: readonly Run[]): Point[] {
  const { benchmark } = runs[0]!;
  const names = runNames(runs).map((name) => [benchmark, name].filter(Boolean).join(', '));
  const compared = runs.length > 2 ? againstFirst(runs) : [];
  const notes = runs.map((run) => notesOf(run));
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
