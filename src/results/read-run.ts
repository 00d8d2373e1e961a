import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { WeftError } from '../errors.js';
import { plural } from '../measure/units.js';
import {
  footerSchema,
  headerSchema,
  type Run,
  rowSchema,
  runSchema,
  runSchemaName,
} from './schema.js';

/** A run as its file holds it, and what is wrong with the file. */
export interface ReadRun {
  readonly run: Run;
  /**
   * Set when a line could not be read: `run` then holds everything before it, is marked `aborted`,
   * and lists this error.
   */
  readonly damage: WeftError | undefined;
}

const lineSchema = z.discriminatedUnion('line', [
  headerSchema.extend({ line: z.literal('header') }),
  rowSchema.extend({ line: z.literal('row') }),
  footerSchema.extend({ line: z.literal('footer') }),
]);
const knownLines: ReadonlySet<unknown> = new Set(['header', 'row', 'footer']);

/** Reads a run file, or one object as `--format json` prints it. */
export function readRun(path: string): ReadRun {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new WeftError('BAD_FILE', `${path} ${missing ? 'does not exist' : 'cannot be read'}`, {
      hint: 'Name a run file, such as one in weft-results/.',
      cause,
    });
  }
  return parseRun(text, path);
}

/** `name` is what errors call the text. Throws when not even the header can be read. */
export function parseRun(text: string, name = 'the run'): ReadRun {
  const whole = wholeRun(text);
  if (whole !== undefined) return { run: whole, damage: undefined };

  const lines = text.split('\n');
  // What follows the last newline is a line in flight when its writer died: lost, but no damage.
  lines.pop();
  const run = headerOf(lines[0] ?? text, name);
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line.trim() === '') continue;
    try {
      addLine(run, line);
    } catch (cause) {
      return damaged(run, badLine(name, index + 1, cause, run.rows.length));
    }
  }
  return { run, damage: undefined };
}

function wholeRun(text: string): Run | undefined {
  try {
    return runSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The run as it stands after its header: aborted, until a footer says otherwise. */
function headerOf(line: string, name: string): Run {
  try {
    const json: unknown = JSON.parse(line);
    refuseOtherSchema(json, name);
    const header = headerSchema.parse(json);
    return { ...header, endedAt: null, outcome: 'aborted', rows: [], errors: [] };
  } catch (cause) {
    if (cause instanceof WeftError) throw cause;
    throw badLine(name, 1, cause, 0);
  }
}

function refuseOtherSchema(json: unknown, name: string): void {
  const schema = (json as { schema?: unknown } | null)?.schema;
  if (typeof schema !== 'string' || schema === runSchemaName) return;
  throw new WeftError(
    'BAD_FILE',
    `${name}, line 1: its schema is ${schema}; this Weft reads ${runSchemaName}`,
    { hint: 'Read it with the Weft that wrote it, or name a run file.' },
  );
}

type RunLine = z.infer<typeof lineSchema>;

/** One line of a run file; undefined for kinds that came later, which are passed over as unknown keys are. */
export function parseLine(line: string): RunLine | undefined {
  const json: unknown = JSON.parse(line);
  if (typeof json !== 'object' || json === null) throw new TypeError('not an object');
  if ('line' in json && typeof json.line === 'string' && !knownLines.has(json.line)) return;
  return lineSchema.parse(json);
}

function addLine(run: Run, line: string): void {
  const parsed = parseLine(line);
  if (parsed === undefined) return;
  if (parsed.line === 'header') throw new TypeError('a second header');
  const { line: _, ...content } = parsed;
  if ('endedAt' in content) Object.assign(run, content);
  else run.rows.push(content);
}

function damaged(run: Run, damage: WeftError): ReadRun {
  const { code, message, hint } = damage;
  run.outcome = 'aborted';
  run.errors.push({ code, message, ...(hint !== undefined && { hint }) });
  return { run, damage };
}

function badLine(name: string, line: number, cause: unknown, rowsBefore: number): WeftError {
  const why = cause instanceof z.ZodError ? firstIssue(cause) : (cause as Error).message;
  const kept = line === 1 ? '' : `; ${plural(rowsBefore, 'row')} before it can still be read`;
  return new WeftError(
    'BAD_FILE',
    `${name}, line ${line}: not a line of a run file (${why})${kept}`,
    {
      hint:
        line === 1
          ? 'A run file begins with a line that says "schema":"weft.run/1".'
          : 'Run it again, or show the readable rows with `weft report`.',
      cause,
    },
  );
}

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues;
  if (issue === undefined) return 'does not fit the schema';
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}
