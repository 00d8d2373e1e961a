import { pairKey, placesOf } from '../../analysis/diagnosis/cells.js';
import { headline } from '../../analysis/diagnosis/diagnosis.js';
import { steadyOutliers } from '../../analysis/diagnosis/outliers.js';
import { groupBy } from '../../measure/group.js';
import { plural } from '../../measure/units.js';
import type { Note } from '../note.js';
import { routingNotes } from '../routing-notes.js';
import { isInMatrix } from '../row-kinds.js';
import type { Run } from '../schema.js';

/** What `pairs` found, or which traffic a workload carried: its result, however much there is of it. */
export function findingsOf({ diagnosis, rows }: Run): Note[] {
  if (!diagnosis) return routingNotes(rows);
  const sound = diagnosis.findings.every(({ symptom }) => symptom === 'differs');
  const found = diagnosis.findings.flatMap((finding): Note[] => [
    { kind: 'bad', text: headline(finding) },
    { kind: 'plain', text: `${finding.evidence} ${finding.next}` },
  ]);
  const ways = new Set(rows.map(({ labels: { from = 0, to = 0 } }) => pairKey(from, to))).size;
  const none: Note = {
    kind: 'plain',
    text: `No slow pair found (${ways} directed pairs measured).`,
  };
  return sound ? [none, ...found] : found;
}

/** What a scan of some pairs, or with a network description, covered. */
export function scanNotes({ diagnosis }: Run): Note[] {
  const { scan } = diagnosis ?? {};
  if (!scan || (scan.scope === undefined && scan.network === undefined)) return [];
  const of = ({ covered, all }: typeof scan.hosts, what: string) => `${covered} of ${all} ${what}`;
  const places = [
    of(scan.hosts, 'hosts'),
    of(scan.nics, 'NICs'),
    ...(scan.leaves ? [of(scan.leaves, 'leaves')] : []),
    ...(scan.crossings ? [of(scan.crossings, 'crossings between leaves')] : []),
  ];
  const closer = scan.closerRounds === 0 ? '' : `, ${scan.closerRounds} of them around suspects`;
  const rounds = `${of(scan.pairs, 'pairs')} in ${plural(scan.rounds, 'round')}${closer}`;
  const name = scan.scope === undefined ? 'every pair' : `scope ${scan.scope}`;
  return [{ kind: 'plain', text: `${name}: ${rounds}; covered ${places.join(', ')}` }];
}

export const unconfirmedNotes = ({ diagnosis }: Run): Note[] =>
  (diagnosis?.notConfirmed ?? []).map((text) => ({
    kind: 'plain',
    text: `not confirmed: ${text}`,
  }));

/** Ranks that are far slower than the others, in benchmarks that cannot tell why. */
export function outlierNotes(run: Run): Note[] {
  const { hosts } = placesOf(run);
  // A pair is one peer.
  const several = run.rows.filter((row) => !isInMatrix(row));
  return [...groupBy(several, (row) => row.column)].flatMap(([column, rows]) =>
    steadyOutliers(rows, hosts).map(({ rank, ratio, uneven }): Note => {
      const who = `rank ${rank} (${hosts[rank] ?? 'unknown host'})`;
      const others = uneven ? 'the other ranks, per byte' : 'the other ranks';
      const share = `${Math.round(ratio * 100)} % of the speed of ${others}`;
      const text = `${who} runs ${column} at ${share}; weft pairs finds the cause`;
      return { kind: 'doubt', text };
    }),
  );
}
