import type { Change } from '../analysis/compare/compare.js';
import { headline } from '../analysis/diagnosis/diagnosis.js';
import { groupBy } from '../measure/group.js';
import { mean } from '../measure/summary.js';
import { plural, sizeText } from '../measure/units.js';
import { noisyMark, notesOf } from '../results/formats/notes.js';
import type { Note } from '../results/note.js';
import type { Row, Run } from '../results/schema.js';
import { bestOf, type Rate, ratedRows, rateOf } from './best-row.js';
import type { Against } from './comparison.js';
import { reportKindOf } from './report-kinds.js';
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
    lead: (runs.length === 1 && reportKindOf(only!).lead?.(only!)) || '',
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
  const found = reportKindOf(run).finding(run);
  if (found === undefined) return bad ?? `${run.benchmark} measured nothing: ${whyNothing(run)}.`;
  return bad === undefined ? found : `${bad} ${found}`;
}

/** What went wrong comes first. */
function troubleOf({ outcome, rows }: Run, name: string): string | undefined {
  const failed = rows.filter((row) => row.outcome === 'failed').length;
  const wrong = rows.some((row) => row.checked.wrong > 0);
  if (wrong) return `${name} delivered wrong data.`;
  if (outcome === 'aborted') return `${name} did not finish: these are partial results.`;
  if (failed > 0) return `${plural(failed, 'row')} of ${name} failed.`;
  const astray = rows.filter((row) => row.path?.asPlanned === false).length;
  if (astray === 0) return undefined;
  return `${plural(astray, 'row')} of ${name} did not go over the planned NICs.`;
}

const whyNothing = ({ rows, errors }: Run): string =>
  errors[0]?.message ?? rows.find((row) => row.reason !== undefined)?.reason ?? 'it has no rows';

const diagnosed = ({ diagnosis }: Run): Point[] =>
  (diagnosis?.findings ?? []).map((finding) => ({
    kind: 'bad',
    text: `${headline(finding)}. ${finding.evidence} ${finding.next}`,
  }));

/** A page has charts for details. */
const notesFor = (run: Run): Note[] => notesOf(run).filter(({ kind }) => kind !== 'detail');

/** A table explains its mark for noise; a list says how many rows have it. */
function pointOf({ kind, text, about }: Note, { rows }: Run): Point {
  if (about === 'verified') return { kind: 'good', text };
  if (about !== 'noise') return { kind, text };
  const noisy = rows.filter((row) => row.noisy).length;
  return {
    kind,
    text: `${noisy} of ${plural(rows.length, 'row')} are noisy: their samples vary widely (${noisyMark})`,
  };
}

/** Of several runs: how each compares with the first, and only what is wrong or in doubt. */
function doubtsOf(runs: readonly Run[], against: readonly Against[]): Point[] {
  const { benchmark } = runs[0]!;
  const names = runNames(runs).map((name) => [benchmark, name].filter(Boolean).join(', '));
  const compared = runs.length > 2 ? against.flatMap((one) => againstText(one) ?? []) : [];
  const notes = runs.map(notesFor);
  const verified = notes.every((list) => list.some(({ about }) => about === 'verified'));
  return [
    ...compared.map((text): Point => ({ kind: 'plain', text: `${benchmark}: ${text}` })),
    ...runs.flatMap(diagnosed),
    ...notes.flatMap((list, i) =>
      list
        .filter(({ kind }) => kind !== 'plain')
        .map((note) => pointOf(note, runs[i]!))
        .map(({ kind, text }): Point => ({ kind, text: `${names[i]}: ${text}` })),
    ),
    ...(verified
      ? [{ kind: 'good' as const, text: `${benchmark}: all bytes verified, none wrong` }]
      : []),
  ];
}

function severalFinding(runs: readonly Run[], against: readonly Against[]): string {
  const { benchmark } = runs[0]!;
  const [only, ...more] = against;
  if (only === undefined || more.length > 0) return `${benchmark}: ${fastestOf(runs)}.`;
  return `${benchmark}: ${againstText(only) ?? 'the two runs have no row in common'}.`;
}

/** Rates of different worlds or sizes do not rank: only what all runs measured does. */
function fastestOf(runs: readonly Run[]): string {
  const rate = rateOf(runs);
  const names = runNames(runs);
  const rated = runs.map((run) => ratedRows(run, rate));
  if (rated.every((rows) => rows.length === 0))
    return `none of the ${runs.length} runs measured a rate`;
  const worlds = new Set(runs.map(({ world }) => `${world.ranks} on ${world.hosts.length}`));
  if (worlds.size > 1) {
    const bests = rated.map((rows, i) => `${names[i]} ${bestText(rows, rate)}`);
    return `the runs differ in ranks or hosts; best of each: ${bests.join('; ')}`;
  }
  const sizes = rated.map((rows) => new Set(rows.map((row) => row.bytes)));
  const shared = rated.map((rows) =>
    rows.filter(({ bytes }) => sizes.every((own) => own.has(bytes))),
  );
  const bests = shared.flatMap((rows, i) => {
    const best = bestOf(rows, rate);
    return best === undefined ? [] : [{ rows, name: names[i]!, value: rate.of(best)! }];
  });
  if (bests.length === 0) return `the ${runs.length} runs have no size in common`;
  const { name, rows } = bests.reduce((a, b) => (b.value > a.value ? b : a));
  return `of ${runs.length} runs, ${name} is the fastest with ${bestText(rows, rate)}`;
}

function bestText(rows: readonly Row[], rate: Rate): string {
  const best = bestOf(rows, rate);
  if (best === undefined) return 'none';
  return `${rate.text(best)} (${best.column}, ${sizeText(best.bytes!)})`;
}

/** A run against the first; what counts as a difference, `weft compare` has said. Undefined where no row is in both. */
function againstText({ names: [a, b], comparison: { rows } }: Against): string | undefined {
  const both = rows.filter((row) => row.effect !== null);
  const count = (change: Change) => rows.filter((row) => row.change === change).length;
  const broken = count('broken in A') + count('broken in B');
  if (both.length === 0) {
    return broken === 0 ? undefined : `${plural(broken, 'row')} of ${a} or ${b} failed`;
  }
  const speed = Math.exp(mean(both.map((row) => -Math.log1p(row.effect!))));
  const parts = [
    `faster in ${count('faster')} of ${plural(both.length, 'row')}`,
    `slower in ${count('slower')}`,
    ...(count('same') === 0 ? [] : [`no clear difference in ${count('same')}`]),
    ...(broken === 0 ? [] : [`broken in ${broken} more`]),
  ];
  return `${b} ${speedText(speed)} ${a} (${parts.join(', ')})`;
}

function speedText(ratio: number): string {
  if (ratio > 0.995 && ratio < 1.005) return 'is as fast as';
  return `runs at ${ratio.toFixed(2)} times the speed of`;
}
