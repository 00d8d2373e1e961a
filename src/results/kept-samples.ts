import { plural } from '../measure/units.js';
import type { Note } from './note.js';
import { nameOfRow } from './row-name.js';
import type { Row, Run } from './schema.js';

/**
 * A run file keeps at most this many samples of a row: enough for every chart and statistic; at 17 bytes each, a quarter
 * of the longest line that readers accept.
 */
export const mostSamplesKept = 1_000_000;

/** The row as files keep it: of too many samples, an even selection in the order in which they were taken. */
export function withKeptSamples(row: Row): Row {
  const { samples } = row;
  if (samples.length <= mostSamplesKept) return row;
  const step = samples.length / mostSamplesKept;
  const kept = Array.from({ length: mostSamplesKept }, (_, i) => samples[Math.floor(i * step)]!);
  return { ...row, samples: kept, samplesTaken: samples.length };
}

/** Says where a row has fewer samples than were taken. */
export function fewerSamples({ rows }: Run): Note[] {
  const selected = rows.filter(({ samplesTaken }) => samplesTaken !== undefined);
  const [first] = selected;
  if (first === undefined) return [];
  const of = `${first.samples.length} of ${first.samplesTaken}`;
  const rest = selected.length === 1 ? '' : ` (and ${plural(selected.length - 1, 'more row')})`;
  const text = `${nameOfRow(first)}${rest}: the run file keeps ${of} samples, evenly chosen; the statistics are over all`;
  return [{ kind: 'plain', text }];
}
