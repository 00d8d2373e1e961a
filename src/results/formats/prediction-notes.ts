import { groupBy } from '../../measure/group.js';
import { rangeText } from '../../measure/units.js';
import type { Note } from '../note.js';
import type { Row, Run } from '../schema.js';

/** What must be said below a table that nobody measured. */
export function predictionNotes(
  { name, source }: NonNullable<Run['model']>,
  rows: readonly Row[],
): Note[] {
  const widths = [...groupBy(rows, (row) => row.column)].map(([column, own]) => {
    const percents = own.flatMap(({ interval, nanoseconds }) =>
      interval && nanoseconds ? [(interval[1] / nanoseconds.mean - 1) * 100] : [],
    );
    return `${column} ${rangeText(percents, 1)} %`;
  });
  return [
    {
      kind: 'doubt',
      text: `PREDICTED with the model ${name} (${source}); nothing was measured on this fabric`,
    },
    ...approximations(rows).map((text) => ({ kind: 'doubt' as const, text })),
    { kind: 'plain', text: `95 % interval of the time, ±: ${widths.join(', ')}` },
  ];
}

/** Where times of predicted rows are not those of a full simulation, a sentence each. */
export const approximations = (rows: readonly Row[]): string[] =>
  rows.some(({ hostsAlike }) => hostsAlike)
    ? [
        'hosts below a leaf are treated as alike: times may differ by up to 5 % from a full simulation',
      ]
    : [];
