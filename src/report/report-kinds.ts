import { isSoak, soakVerdict } from '../analysis/soak/verdict.js';
import { soakHeadline, soakTroubles } from '../analysis/soak/words.js';
import type { RepeatedRun } from '../results/repeats.js';
import type { Run } from '../results/schema.js';
import type { ChartKind, ChartParts } from './chart.js';
import { pairBandwidth, pairMaps, pairTime, railBars } from './charts/pairs.js';
import { bestFinding, fastestTime, pairsFinding, proxyFinding } from './findings.js';

/** What a report shows of one kind of row and of no other: the report's half of results/row-kinds.ts. */
interface ReportKind {
  /** The result in a sentence; undefined where there is none. */
  readonly finding: (run: Run) => string | undefined;
  /** What belongs beside it; may be empty. */
  readonly lead?: (run: Run) => string;
  /** What is wrong, a sentence each. */
  readonly troubles?: (run: Run) => readonly string[];
  /** Charts besides those that rows of every kind fill if they can. */
  readonly charts?: (run: Run) => readonly (readonly [ChartKind, readonly ChartParts[]])[];
}

export const reportKinds = new Map<string, ReportKind>([
  ['transfer', { finding: (run) => proxyFinding(run) ?? bestFinding(run), lead: fastestTime }],
  [
    'pair',
    {
      finding: pairsFinding,
      charts: (run) => [
        ['pairs', pairMaps(run, pairBandwidth)],
        ['pair-times', pairMaps(run, pairTime)],
        ['rails', railBars(run)],
      ],
    },
  ],
]);

const soak: ReportKind = {
  finding: (run) => soakHeadline(soakVerdict(unmerged(run))),
  troubles: (run) => soakTroubles(soakVerdict(unmerged(run))),
};

/** As it was measured. */
const unmerged = ({ repeated, ...run }: RepeatedRun): Run =>
  repeated === undefined ? run : { ...run, rows: [...repeated] };

/** A run's rows are of one kind. */
export const reportKindOf = (run: RepeatedRun): ReportKind =>
  isSoak(unmerged(run)) ? soak : kindOf(run);

const kindOf = ({ rows }: Run): ReportKind =>
  reportKinds.get(rows[0]?.kind ?? '') ?? { finding: bestFinding };
