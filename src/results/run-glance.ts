import { z } from 'zod';
import type { Headline } from './headline.js';
import { isPlainPair } from './plain-pair.js';
import { footerSchema, headerSchema, type Outcome, rowSchema } from './schema.js';

/** What lists and indexes need of a line. Samples are most of a file and nothing to them, so they are not parsed. */
export type Glance =
  | { readonly line: 'header'; readonly header: GlanceHeader; readonly json: HeaderJson }
  | { readonly line: 'row'; readonly row: GlanceRow }
  | { readonly line: 'footer'; readonly endedAt: string; readonly outcome: Outcome }
  | { readonly line: 'other' };

export type GlanceHeader = z.infer<typeof glanceHeaderSchema>;
export type GlanceRow = z.infer<typeof glanceRowSchema>;
/** A header as its file holds it, keys that came later included. */
export type HeaderJson = z.infer<typeof headerSchema> & Readonly<Record<string, unknown>>;

const glanceHeaderSchema = headerSchema.omit({ settings: true });
const footerLine = footerSchema.pick({ endedAt: true, outcome: true });
const { kind, column, bytes, outcome, gbps, mops, labels, nanoseconds } = rowSchema.shape;
const { from, to, rail, grid, block, producer, memory } = labels.shape;
const glanceRowSchema = z.object({
  ...{ kind, column, bytes, outcome, gbps, mops },
  labels: z.object({ from, to, rail, grid, block, producer, memory }),
  nanoseconds: nanoseconds
    .unwrap()
    .pick({ min: true, mean: true, p50: true, p95: true })
    .nullable(),
});

/** What a row measured, as an index holds it. */
export const subjectSchema = glanceRowSchema.pick({
  ...{ kind: true, column: true, bytes: true, labels: true },
});

const samplesBegin = Buffer.from('"samples":[');

/**
 * The same line with no samples in it. Inside a JSON string the quote before the colon would have a backslash, so
 * the first match is the key itself, and what it holds are numbers: the next bracket ends it.
 */
export function withoutSamples(line: Buffer): string {
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
      headerSchema.parse(json);
      return { line: 'header', header: glanceHeaderSchema.parse(json), json: json as never };
    case 'footer':
      return { line: 'footer', ...footerLine.parse(json) };
    case 'row':
      return { line: 'row', row: quickPair(json) ?? glanceRowSchema.parse(json) };
    default:
      if (typeof json?.line !== 'string') throw new TypeError('not a line of a run');
      return { line: 'other' };
  }
}

/** The pairs of many ranks are millions of rows. */
function quickPair(json: object): GlanceRow | undefined {
  if (!isPlainPair(json)) return undefined;
  const { kind, column, bytes, outcome, gbps, labels, nanoseconds } = json;
  const { from, to, rail, memory } = labels;
  const { min, mean, p50, p95 } = nanoseconds!;
  return {
    ...{ kind, column, bytes, outcome, gbps },
    labels: { from, to, ...(rail !== undefined && { rail }), ...(memory && { memory }) },
    nanoseconds: { min, mean, p50, p95 },
  };
}

/** A column that was skipped as a whole is one row of the file and none of the measurement. */
export const isTried = ({ bytes, outcome }: GlanceRow): boolean =>
  bytes !== null || outcome !== 'skipped';

export function headlineOf({ outcome, gbps, mops, column, bytes }: GlanceRow) {
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
