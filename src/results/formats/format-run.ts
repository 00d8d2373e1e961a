import { mergeRepeats } from '../repeats.js';
import type { Run } from '../schema.js';
import { formatCsv } from './csv.js';
import { formatJson } from './json.js';
import { formatMarkdown } from './markdown.js';
import { formatNccl, type NcclOptions } from './nccl.js';
import { formatTable, type TableOptions } from './table.js';

/** The values of `--format`. nccl-tests' JSON goes to a file of its own: see `formatNcclJson`. */
export const formats = ['table', 'markdown', 'csv', 'json', 'nccl'] as const;
/** A way to write a run, as `--format` names it. */
export type Format = (typeof formats)[number];

/** What a table shows, and what a run is called in output like that of nccl-tests. */
export interface FormatOptions extends TableOptions, NcclOptions {}

const writers: Record<Format, (run: Run, options: FormatOptions) => string> = {
  table: formatTable,
  markdown: formatMarkdown,
  csv: formatCsv,
  json: formatJson,
  nccl: formatNccl,
};

/** JSON has the rows of every repeat; what people read has one row for all of them. */
export const formatRun = (run: Run, format: Format, options: FormatOptions = {}): string =>
  writers[format](format === 'json' ? run : mergeRepeats(run), options);
