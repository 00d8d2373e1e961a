import type { RowVerdict } from '../analysis/compare/compare.js';
import { headline } from '../analysis/diagnosis/diagnosis.js';
import { groupBy } from '../measure/group.js';
import { mean } from '../measure/summary.js';
import { plural, sizeText } from '../measure/units.js';
import { fabricName } from '../results/fabric-name.js';
import { noisyMark, notesOf } from '../results/formats/notes.js';
import type { Note } from '../results/note.js';
import { routingNotes } from '../results/routing-notes.js';
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
  /** The finding in a sentence; of several runs what they have in common, or who wins. */
  readonly headline: string;
  /** What belongs beside it; may be empty. */
  readonly lead: string;
  /** Of one run; several have cards, which tell of each. */
  readonly points: readonly Point[];
}

/**
 * What a reader came for, and what should make them doubt it. Nothing here is not in the rows, or for several runs in
 * `comparisons`.
 */
export function answerOf(runs: readonly Run[], comparisons: readonly Against[] = []): Answer {
  const [only, ...more] = runs;
  if (only?.model && more.length > 0) {
    return { headline: predictedHeadline(runs, only.model.name), lead: '', points: [] };
  }
  if (only === undefined || more.length > 0) {
    return { headline: severalHeadline(runs, comparisons), lead: '', points: [] };
  }
  return {
    headline: findingOf(only),
    lead: reportKindOf(only).lead?.(only) || '',
    points: [
      ...troubles(only),
      ...diagnosed(only),
      ...notesFor(only).map((note) => pointOf(note, only)),
    ],
  };
}

/** Predictions of one benchmark in several worlds. */
function predictedHeadline(runs: readonly Run[], model: string): string {
  const hosts = runs.map(({ world }) => world.hosts.length);
  const [least, most] = [Math.min(...hosts), Math.max(...hosts)];
  return `PREDICTED, not measured: ${runs[0]!.benchmark} on ${least} to ${most} hosts with the model ${model}.`;
}

/** What went wrong, then what the runs have in common or who wins. */
function severalHeadline(runs: readonly Run[], comparisons: readonly Against[]): string {
  const groups = [...groupBy(runs, (run) => run.benchmark).values()];
  const bad = groups.flatMap((group) => {
    const names = runNames(group);
    return group.flatMap((run, i) => {
      const name = names[i] === '' ? run.benchmark : `${run.benchmark} (${names[i]})`;
      return troubleOf(run, name) ?? [];
    });
  });
  const trouble = bad.length > 1 ? [`${bad.length} of ${runs.length} runs have problems.`] : bad;
  return [...trouble, resultOf(groups, comparisons)].join(' ');
}

function resultOf(groups: readonly (readonly Run[])[], comparisons: readonly Against[]): string {
  const [first = []] = groups;
  if (groups.length === 1) return severalFinding(first, comparisons);
  const compared = groups.filter((group) => group.length > 1);
  const winners = winnersText(compared, groups.length);
  if (winners !== undefined && compared.length === groups.length) {
    return `${winners.replace(/^highest/, 'Highest')}.`;
  }
  const common = commonText(groups.flat(), groups.length);
  return `${[common, winners].filter(Boolean).join('; ')}.`;
}

/** `3 benchmarks on tcp, 4 ranks on 1 host: all passed, no wrong bytes` */
function commonText(runs: readonly Run[], benchmarks: number): string {
  const common = (of: (run: Run) => string) => {
    const texts = new Set(runs.map(of));
    return texts.size === 1 ? [...texts] : [];
  };
  const where = [
    ...common(({ fabric }) => ` on ${fabricName(fabric) ?? 'no fabric'}`),
    ...common(
      ({ world }) => `, ${plural(world.ranks, 'rank')} on ${plural(world.hosts.length, 'host')}`,
    ),
  ].join('');
  const count = runs.length === benchmarks ? '' : `${runs.length} runs of `;
  const passed = runs.filter(({ outcome }) => outcome === 'passed').length;
  const checked = runs.every(({ rows }) => rows.some((row) => row.checked.bytes > 0));
  const wrong = runs.some(({ rows }) => rows.some((row) => row.checked.wrong > 0));
  const result = passed === runs.length ? 'all passed' : `${passed} passed`;
  const data = checked && !wrong ? ', no wrong bytes' : '';
  return `${count}${benchmarks} benchmarks${where}: ${result}${data}`;
}

/** `shm reached the highest rate in all 3 benchmarks`; undefined where nothing can be ranked. */
function winnersText(groups: readonly (readonly Run[])[], benchmarks: number): string | undefined {
  const winners = groups.flatMap((group) => {
    const winner = winnerOf(group);
    return winner === undefined ? [] : [{ name: winner.name, benchmark: group[0]!.benchmark }];
  });
  const byName = [...groupBy(winners, ({ name }) => name)];
  if (byName.length === 0) return undefined;
  const [[name] = ['']] = byName;
  if (byName.length === 1 && winners.length === benchmarks) {
    return `${name} reached the highest rate in all ${plural(benchmarks, 'benchmark')}`;
  }
  const parts = byName.map(
    ([who, won]) => `${who} in ${won.map(({ benchmark }) => benchmark).join(', ')}`,
  );
  return `highest rate: ${parts.join('; ')}`;
}

export function findingOf(run: Run): string {
  const bad = troubleOf(run, run.benchmark);
  const found = reportKindOf(run).finding(run);
  if (found === undefined) return bad ?? `${run.benchmark} measured nothing: ${whyNothing(run)}.`;
  return bad === undefined ? found : `${bad} ${found}`;
}

/** What went wrong comes first. */
export function troubleOf({ outcome, rows }: Run, name: string): string | undefined {
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

const troubles = (run: Run): Point[] =>
  (reportKindOf(run).troubles?.(run) ?? []).map((text) => ({ kind: 'bad', text }));

export const diagnosed = ({ diagnosis }: Run): Point[] =>
  (diagnosis?.findings ?? []).map((finding) => ({
    kind: 'bad',
    text: `${headline(finding)}. ${finding.evidence} ${finding.next}`,
  }));

/** A page has charts for details. */
export const notesFor = (run: Run): Note[] => [
  ...notesOf(run).filter(({ kind }) => kind !== 'detail'),
  ...routingNotes(run.rows),
];

/** A table explains its mark for noise; a list says how many rows have it. */
export function pointOf({ kind, text, about }: Note, { rows }: Run): Point {
  if (about === 'verified') return { kind: 'good', text };
  if (about !== 'noise') return { kind, text };
  const noisy = rows.filter((row) => row.noisy).length;
  return {
    kind,
    text: `${noisy} of ${plural(rows.length, 'row')} are noisy: their samples vary widely (${noisyMark})`,
  };
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
  if (!inOneWorld(runs)) {
    const bests = rated.map((rows, i) => `${names[i]} ${bestText(rows, rate)}`);
    return `the runs differ in ranks or hosts; best of each: ${bests.join('; ')}`;
  }
  const winner = winnerOf(runs);
  if (winner === undefined) return `the ${runs.length} runs have no size in common`;
  const { name, rows } = winner;
  return `of ${runs.length} runs, ${name} is the fastest with ${bestText(rows, rate)}`;
}

const inOneWorld = (runs: readonly Run[]): boolean =>
  new Set(runs.map(({ world }) => `${world.ranks} on ${world.hosts.length}`)).size === 1;

/** The run with the highest rate, by the sizes that all of them measured; undefined where they cannot be ranked. */
function winnerOf(runs: readonly Run[]): { name: string; rows: readonly Row[] } | undefined {
  if (!inOneWorld(runs)) return undefined;
  const rate = rateOf(runs);
  const names = runNames(runs);
  const rated = runs.map((run) => ratedRows(run, rate));
  const sizes = rated.map((rows) => new Set(rows.map((row) => row.bytes)));
  const bests = rated.flatMap((all, i) => {
    const rows = all.filter(({ bytes }) => sizes.every((own) => own.has(bytes)));
    const best = bestOf(rows, rate);
    return best === undefined ? [] : [{ rows, name: names[i]!, value: rate.of(best)! }];
  });
  return bests.length === 0 ? undefined : bests.reduce((a, b) => (b.value > a.value ? b : a));
}

function bestText(rows: readonly Row[], rate: Rate): string {
  const best = bestOf(rows, rate);
  if (best === undefined) return 'none';
  return `${rate.text(best)} (${best.column}, ${sizeText(best.bytes!)})`;
}

/** A run against the first; what counts as a difference, `weft compare` has said. Undefined where no row is in both. */
export function againstText({ names: [a, b], comparison: { rows } }: Against): string | undefined {
  const both = rows.filter((row) => row.ratio !== null);
  const count = (verdict: RowVerdict) => rows.filter((row) => row.verdict === verdict).length;
  const broken = count('broken in A') + count('broken in B');
  if (both.length === 0) {
    return broken === 0 ? undefined : `${plural(broken, 'row')} of ${a} or ${b} failed`;
  }
  const speed = Math.exp(mean(both.map((row) => -Math.log(row.ratio!))));
  const verdicts = (['faster', 'slower', 'same', 'unclear'] as const).filter(count);
  const parts = [
    ...verdicts.map((verdict, i) => {
      const of = i === 0 ? ` of ${plural(both.length, 'row')}` : '';
      return `${verdict} in ${count(verdict)}${of}`;
    }),
    ...(broken === 0 ? [] : [`broken in ${broken} more`]),
  ];
  return `${b} ${speedText(speed)} ${a} (${parts.join(', ')})`;
}

function speedText(ratio: number): string {
  if (ratio > 0.995 && ratio < 1.005) return 'is as fast as';
  return `runs at ${ratio.toFixed(2)} times the speed of`;
}
