import { WeftError } from '../../errors.js';
import type { Machine } from '../../reference/machines.js';
import type { Finding } from '../../results/finding.js';
import { mergeRepeats } from '../../results/repeats.js';
import type { Run } from '../../results/schema.js';
import { compareRuns } from '../compare/compare.js';
import type { EarlierRun } from '../compare/earlier-runs.js';
import { notesOf, settleNotes } from '../compare/notes.js';
import { headline } from '../diagnosis/diagnosis.js';
import { nameOf } from '../diagnosis/finding-name.js';
import { differenceFindings } from '../hosts/differences.js';
import { placeOf } from '../normal/machine.js';
import type { Expected } from '../normal/normal.js';
import { type Expectation, judgeExpectations } from './expectations.js';
import { judgeComparison, judgeSoundness } from './judge-runs.js';
import {
  columnsWithoutReference,
  describeMachine,
  judgeByBound,
  judgeByMachine,
  needsModel,
} from './machines.js';
import { type Item, type Verdict, verdictOf } from './verdict.js';

/** What the results are held against. */
export type Source =
  | { readonly kind: 'file'; readonly expectations: Expectation[]; readonly against: string }
  | {
      readonly kind: 'baseline';
      readonly runs: Run[];
      readonly tolerance: number;
      readonly drift?: number | undefined;
      readonly history?: readonly EarlierRun[];
      readonly unreadHistory?: string;
      /** Rows that look slower without proof are degraded. */
      readonly strict?: boolean;
    }
  | {
      readonly kind: 'machine';
      readonly machine: Machine;
      /** What a model expects of a run on it; asked for runs that published figures do not hold for. */
      readonly expectedOf: (run: Run) => Expected;
    }
  | { readonly kind: 'none' };

/** The verdict on runs: what is always looked at, and what was expected. */
export function judge(source: Source, all: readonly Run[], notes: readonly string[]): Verdict {
  const runs = all.map(mergeRepeats);
  const always = [...judgeSoundness(runs), ...judgeDiagnoses(runs), ...judgeHosts(runs)];
  const { against, items, notes: more = [] } = judgeBySource(source, all, runs);
  return verdictOf({ against, items: [...always, ...items], runs, notes: [...notes, ...more] });
}

function judgeBySource(
  source: Source,
  all: readonly Run[],
  merged: readonly Run[],
): { against: string; items: Item[]; notes?: string[] } {
  switch (source.kind) {
    case 'file':
      return { against: source.against, items: judgeExpectations(source.expectations, merged) };
    case 'baseline': {
      const same = all.filter((run) => run.benchmark === source.runs[0]!.benchmark);
      const against = `the baseline ${source.runs.map((run) => run.id).join(', ')}`;
      if (same.length === 0) {
        throw new WeftError(
          'BAD_USAGE',
          `no run of ${source.runs[0]!.benchmark} to compare with the baseline`,
        );
      }
      const comparison = compareRuns(source.runs, same, source);
      const items = judgeComparison(comparison, source.strict ?? false);
      const notes = [comparison.summary, ...settleNotes(comparison), ...notesOf(comparison)];
      return { against, items, notes };
    }
    case 'machine':
      return judgeMachine(source, merged);
    case 'none':
      return {
        against: 'the median of all pairs, and 80 % of the bound where line rates are known',
        items: judgeByBound(merged),
      };
  }
}

/** Labs and emulated devices are held to their own bounds: they are no such machine. So is what nothing is known of. */
function judgeMachine(
  { machine, expectedOf }: Extract<Source, { kind: 'machine' }>,
  runs: readonly Run[],
) {
  const isReal = (run: Run) => !['lab', 'emulated'].includes(placeOf(run).kind);
  const [real, others] = [runs.filter(isReal), runs.filter((run) => !isReal(run))];
  const unknown = columnsWithoutReference(real);
  const foreign = real
    .filter((run) => needsModel(machine, run))
    .map((run) => ({ run, expected: expectedOf(run) }));
  const expected = new Map(foreign.map((one) => [one.run.id, one.expected]));
  const unexpected = foreign.flatMap(({ run, expected: one }) =>
    'because' in one ? [{ run, because: one.because }] : [],
  );
  return {
    against: describeMachine(machine),
    items: [
      ...judgeByMachine(machine, real, expected),
      ...judgeByBound([...others, ...unexpected.map(({ run }) => run)]),
    ],
    notes: [
      ...(unknown.length === 0
        ? []
        : [`not judged, since no figures are published: ${unknown.join(', ')}`]),
      ...(others.length === 0
        ? []
        : [
            `labs and emulated devices are not compared with ${machine.name}, only with their bound`,
          ]),
      ...unexpected.map(({ run, because }) => onlyItsBound(run, because)),
    ],
  };
}

const onlyItsBound = ({ benchmark }: Run, because: string): string =>
  `${benchmark} is compared with its bound only: no published figures apply, and the model gives none (${because})`;

/** Below this share of what the others reach, or with no link, a finding fails. */
const failingShare = 0.5;

/** What was found about hosts, NICs, rails, pairs and ranks; or that nothing was. */
function judgeDiagnoses(runs: readonly Run[]): Item[] {
  return runs.flatMap(({ benchmark, diagnosis }) => {
    if (!diagnosis) return [];
    const faults = diagnosis.findings.filter(({ symptom }) => symptom !== 'differs');
    if (faults.length > 0) return faults.map(itemOf);
    return [{ name: `${benchmark} outliers`, grade: 'pass', reason: 'No outliers found.' }];
  });
}

/** Whether the hosts are set up alike; every run tells of it. */
function judgeHosts(runs: readonly Run[]): Item[] {
  const told = runs.filter(({ world }) => world.facts !== undefined && world.hosts.length > 1);
  const items = told.flatMap(({ world }) => differenceFindings(world).map(itemOf));
  const distinct = new Map(items.map((item) => [item.reason, item]));
  if (told.length === 0 || distinct.size > 0) return [...distinct.values()];
  const reason = 'Drivers, links and settings are the same on every host.';
  return [{ name: 'hosts', grade: 'pass', reason }];
}

function itemOf(finding: Finding): Item {
  const { symptom, effect, evidence, next } = finding;
  const fails = symptom === 'down' || (symptom === 'slow' && effect < failingShare);
  return {
    name: symptom === 'differs' ? headline(finding) : nameOf(finding),
    grade: fails ? 'fail' : 'degraded',
    reason: evidence,
    next,
    metric: symptom,
    value: effect,
  };
}
