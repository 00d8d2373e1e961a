import { mergeRepeats } from '../repeats.js';
import type { Run } from '../schema.js';
import { csvPieces } from './csv.js';
import { jsonPieces } from './json.js';
import { formatMarkdown } from './markdown.js';
import { type NcclOptions, ncclPieces } from './nccl.js';
import type { RowsFrom } from './pieces.js';
import { formatTable, type TableOptions } from './table.js';

/** The values of `--format`. nccl-tests' JSON goes to a file of its own: see `formatNcclJson`. */
export const formats = ['table', 'markdown', 'csv', 'json', 'nccl'] as const;
/** A way to write a run, as `--format` names it. */
export type Format = (typeof formats)[number];

/** What a table shows, what a run is called in output like that of nccl-tests, and where CSV and JSON have their rows from. */
export interface FormatOptions extends TableOptions, NcclOptions, RowsFrom {}

const writers: Record<Format, (run: Run, options: FormatOptions) => Iterable<string>> = {
  table: (run, options) => [formatTable(run, options)],
  markdown: (run, options) => [formatMarkdown(run, options)],
  csv: csvPieces,
  json: jsonPieces,
  nccl: ncclPieces,
};

/** JSON has the rows of every repeat; what people read has one row for all of them. The first piece of CSV are its heads. */
export const runPieces = (
  run: Run,
  format: Format,
  options: FormatOptions = {},
): Iterable<string> => writers[format](format === 'json' ? run : mergeRepeats(run), options);

/** The run in a format, as one text. */
export const formatRun = (run: Run, format: Format, options: FormatOptions = {}): string =>
  [...runPieces(run, format, options)].join('');
