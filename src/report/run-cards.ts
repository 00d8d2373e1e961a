import { groupBy } from '../measure/group.js';
import { describeRun } from '../results/formats/notes.js';
import type { Run } from '../results/schema.js';
import { againstText, diagnosed, findingOf, notesFor, type Point, pointOf } from './answer.js';
import type { Against } from './comparison.js';
import { runNames } from './run-names.js';

/** What a report of several runs says of one of them. */
export interface RunCard {
  /** `write`, `write: tcp` */
  readonly title: string;
  readonly finding: string;
  readonly subject: string;
  /** The worst of its points. */
  readonly state: 'bad' | 'doubt' | 'good';
  readonly points: readonly Point[];
}

/** In the order of the runs: what each found, how it compares with the first of its benchmark, and what is in doubt. */
export function cardsOf(runs: readonly Run[], comparisons: readonly Against[]): RunCard[] {
  const cards = new Map<Run, RunCard>();
  for (const [benchmark, group] of groupBy(runs, (run) => run.benchmark)) {
    const against = comparisons.filter((one) => one.benchmark === benchmark);
    // Of two runs the headline compares them.
    const texts = runs.length === 2 ? [] : against.map((one) => againstText(one));
    const names = runNames(group);
    group.forEach((run, i) => {
      const title = [benchmark, names[i]].filter(Boolean).join(': ');
      cards.set(run, cardOf(run, title, i === 0 ? undefined : texts[i - 1]));
    });
  }
  return runs.flatMap((run) => cards.get(run) ?? []);
}

function cardOf(run: Run, title: string, compared: string | undefined): RunCard {
  const notes = notesFor(run).filter(({ kind, about }) => kind !== 'plain' || about === 'verified');
  const points: Point[] = [
    ...(compared === undefined ? [] : [{ kind: 'plain' as const, text: `${compared}.` }]),
    ...diagnosed(run),
    ...notes.map((note) => pointOf(note, run)),
  ];
  const has = (kind: Point['kind']) => points.some((point) => point.kind === kind);
  const state = run.outcome !== 'passed' || has('bad') ? 'bad' : has('doubt') ? 'doubt' : 'good';
  return { title, finding: findingOf(run), subject: describeRun(run), state, points };
}
