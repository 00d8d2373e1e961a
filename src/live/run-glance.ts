import { z } from 'zod';
import { footerSchema, headerSchema, type Outcome } from '../results/schema.js';
import type { Headline } from './wire.js';

/** What a list needs of a line. Samples are most of a file and nothing to it, so they are not parsed. */
export type Glance =
  | { readonly line: 'header'; readonly header: GlanceHeader }
  | { readonly line: 'row'; readonly tried: boolean; readonly headline: Headline | undefined }
  | { readonly line: 'footer'; readonly endedAt: string; readonly outcome: Outcome }
  | { readonly line: 'other' };

export type GlanceHeader = z.infer<typeof glanceHeaderSchema>;
const glanceHeaderSchema = headerSchema.omit({ settings: true });
const footerLine = footerSchema.pick({ endedAt: true, outcome: true });
const rowLine = z.object({
  column: z.string(),
  bytes: z.number().nullable(),
  outcome: z.string(),
  gbps: z.number().nullable(),
  mops: z.number().optional(),
});

const samplesBegin = Buffer.from('"samples":[');

/**
 * The same line with no samples in it. Inside a JSON string the quote before the colon would have a backslash, so
 * the first match is the key itself, and what it holds are numbers: the next bracket ends it.
 */
function withoutSamples(line: Buffer): string {
  const begin = line.indexOf(samplesBegin);
  if (begin === -1) return line.toString();
  const from = begin + samplesBegin.length;
  const to = line.indexOf(0x5d, from);
  return line.toString('utf8', 0, from) + line.toString('utf8', to);
}

/** Throws where the line is none of a run. */
export function glanceAt(line: Buffer): Glance {
  const json = JSON.parse(withoutSamples(line)) as { line?: unknown } | null;
  switch (json?.line) {
    case 'header':
      return { line: 'header', header: glanceHeaderSchema.parse(json) };
    case 'footer':
      return { line: 'footer', ...footerLine.parse(json) };
    case 'row': {
      const row = rowLine.parse(json);
      // A column that was skipped as a whole is one row of the file and none of the measurement.
      const tried = row.bytes !== null || row.outcome !== 'skipped';
      return { line: 'row', tried, headline: headlineOf(row) };
    }
    default:
      if (typeof json?.line !== 'string') throw new TypeError('not a line of a run');
      return { line: 'other' };
  }
}

function headlineOf({ outcome, gbps, mops, column, bytes }: z.infer<typeof rowLine>) {
  if (outcome !== 'passed') return undefined;
  if (gbps !== null) return { gbps, column, bytes };
  return mops === undefined ? undefined : { mops, column, bytes };
}

/** The faster of two; a rate in Gbps says more than one in operations. */
export function better(a: Headline | undefined, b: Headline | undefined): Headline | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const [x, y] = [a.gbps ?? -1, b.gbps ?? -1];
  if (x !== y) return x > y ? a : b;
  return (a.mops ?? -1) >= (b.mops ?? -1) ? a : b;
}
