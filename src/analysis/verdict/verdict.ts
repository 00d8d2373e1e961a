import type { Run } from '../../results/schema.js';
import { type Difference, differencesOf } from '../hosts/differences.js';
import type { Normal } from '../normal/normal.js';

const grades = ['pass', 'degraded', 'fail'] as const;
/** How a result stands: as expected, below that, or failed. */
export type Grade = (typeof grades)[number];

/** One thing that was looked at. */
export interface Item {
  /** `write MultiPin 16M` */
  readonly name: string;
  readonly grade: Grade;
  /** One sentence. */
  readonly reason: string;
  /** What to look at; absent where all is well. */
  readonly next?: string;
  readonly metric?: string;
  readonly value?: number;
  /** What would pass. */
  readonly expected?: number;
}

/** What was looked at, how each item stands, and the worst of them. */
export interface Verdict {
  readonly schema: 'weft.check/1';
  readonly grade: Grade;
  /** Where the expectations come from, in words. */
  readonly against: string;
  readonly runs: readonly string[];
  /** True where any of the runs used emulated devices. */
  readonly emulated?: boolean;
  readonly items: readonly Item[];
  /** What is not the same on every host; absent where nothing is known to differ. */
  readonly differences?: readonly Difference[];
  /** The rows beside published figures and what a model expects; it decides nothing about grades. */
  readonly normal?: Normal;
  /** What was left out, and why. */
  readonly notes: readonly string[];
}

const worstGrade = (items: readonly Pick<Item, 'grade'>[]): Grade =>
  grades[Math.max(0, ...items.map((item) => grades.indexOf(item.grade)))]!;

export function verdictOf(
  parts: Pick<Verdict, 'against' | 'items'> & { runs: readonly Run[]; notes?: readonly string[] },
): Verdict {
  const [differences = []] = parts.runs.map((run) => differencesOf(run.world));
  return {
    schema: 'weft.check/1',
    grade: worstGrade(parts.items),
    against: parts.against,
    runs: parts.runs.map((run) => run.id),
    ...(parts.runs.some(({ fabric }) => fabric.emulated) && { emulated: true }),
    items: parts.items,
    ...(differences.length > 0 && { differences }),
    notes: parts.notes ?? [],
  };
}
