import { constants } from 'node:buffer';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { z } from 'zod';
import { WeftError } from '../errors.js';
import { plural } from '../measure/units.js';
import { isLarge, isPlainPair, thin } from './large-matrix.js';
import { isInMatrix } from './row-kinds.js';
import { withoutSamples } from './run-glance.js';
import { linesOf } from './run-lines.js';
import {
  footerSchema,
  headerSchema,
  type Row,
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

/**
 * Reads a run file, or one object as `--format json` prints it. Of pairs among many ranks (see large-matrix.ts) the
 * samples stay on disk: `samples` of those rows is empty.
 */
export function readRun(path: string): ReadRun {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    return readOpen(fd, path);
  } catch (cause) {
    if (cause instanceof WeftError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new WeftError('BAD_FILE', `${path} ${missing ? 'does not exist' : 'cannot be read'}`, {
      hint: 'Name a run file, such as one in weft-results/.',
      cause,
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readOpen(fd: number, path: string): ReadRun {
  const stat = fstatSync(fd);
  if (!stat.isFile() || !beginsWithLine(fd, stat.size)) {
    if (stat.size > constants.MAX_STRING_LENGTH) throw tooLarge(path);
    return parseRun(readFileSync(fd, 'utf8'), path);
  }
  const reader = new RunReader(path);
  for (const line of linesOf(fd, stat.size)) reader.takeBytes(line);
  return reader.result;
}

/** The rows of a run file with their samples, one at a time. Throws where a line is damaged. */
export function* rowsInFile(path: string): Generator<Row> {
  const fd = openSync(path, 'r');
  try {
    for (const line of linesOf(fd, fstatSync(fd).size)) {
      const parsed = line.length === 0 ? undefined : parseLine(line.toString());
      if (parsed?.line !== 'row') continue;
      const { line: _, ...row } = parsed;
      yield row;
    }
  } finally {
    closeSync(fd);
  }
}

const longestHeader = 2 ** 24;

/** Whether the file begins with a line that is an object by itself, and not a whole run. */
function beginsWithLine(fd: number, size: number): boolean {
  const bytes = Buffer.alloc(Math.min(size, longestHeader));
  const begin = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  const end = begin.indexOf(0x0a);
  try {
    const json: unknown = JSON.parse(begin.toString('utf8', 0, Math.max(0, end)));
    return typeof json === 'object' && json !== null && !('rows' in json);
  } catch {
    return false;
  }
}

const tooLarge = (path: string): WeftError =>
  new WeftError('BAD_FILE', `${path} is a single JSON object that is too large to read`, {
    hint: 'Use the run file in weft-results/, which Weft reads line by line.',
  });

/** `name` is what errors call the text. Throws when not even the header can be read. */
export function parseRun(text: string, name = 'the run'): ReadRun {
  const whole = wholeRun(text);
  if (whole !== undefined) return { run: whole, damage: undefined };

  const lines = text.split('\n');
  // What follows the last newline is a line in flight when its writer died: lost, but no damage.
  lines.pop();
  const reader = new RunReader(name);
  for (const line of lines.length > 0 ? lines : [text]) reader.take(line);
  return reader.result;
}

/** Takes the lines of a run file, in their order. What comes after a damaged line is passed over. */
class RunReader {
  readonly #name: string;
  #run: Run | undefined;
  #damage: WeftError | undefined;
  #lines = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get result(): ReadRun {
    return { run: this.#run!, damage: this.#damage };
  }

  /** Most lines of a large matrix are plain, and nobody needs their samples. */
  takeBytes(line: Buffer): void {
    const run = this.#run;
    const pair =
      run && this.#damage === undefined && isLarge(run.world) ? plainPair(line) : undefined;
    if (run === undefined || pair === undefined) this.take(line.toString());
    else {
      this.#lines++;
      run.rows.push(thin(pair));
    }
  }

  take(line: string): void {
    this.#lines++;
    if (this.#run === undefined) {
      this.#run = headerOf(line, this.#name);
      return;
    }
    if (this.#damage !== undefined || line.trim() === '') return;
    try {
      addLine(this.#run, line);
    } catch (cause) {
      this.#damage = badLine(this.#name, this.#lines, cause, this.#run.rows.length);
      markDamaged(this.#run, this.#damage);
    }
  }
}

function plainPair(line: Buffer): Row | undefined {
  try {
    const json = JSON.parse(withoutSamples(line)) as (Partial<Row> & { line?: string }) | null;
    return json?.line === 'row' && isPlainPair(json) ? json : undefined;
  } catch {
    return undefined;
  }
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
  else run.rows.push(isLarge(run.world) && isInMatrix(content) ? thin(content) : content);
}

function markDamaged(run: Run, { code, message, hint }: WeftError): void {
  run.outcome = 'aborted';
  run.errors.push({ code, message, ...(hint !== undefined && { hint }) });
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
