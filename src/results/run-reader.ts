import { z } from 'zod';
import { WeftError } from '../errors.js';
import { plural } from '../measure/units.js';
import { isLarge, thin } from './large-matrix.js';
import { isPlainPair, type RowLine } from './plain-pair.js';
import { isInMatrix } from './row-kinds.js';
import { type Cut, isBlank, tooLongText } from './run-lines.js';
import { footerSchema, headerSchema, type Run, rowSchema, runSchemaName } from './schema.js';

/** A run as its file holds it, and what is wrong with the file. */
export interface ReadRun {
  readonly run: Run;
  /**
   * Set when a line could not be read: `run` then holds everything before it, or everything else where the line was only
   * too long, is marked `aborted`, and lists this error.
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
 * Takes the lines of a run file, in their order. What comes after a damaged line is passed over. A line that is only too
 * long says nothing about the others: they count.
 */
export class RunReader {
  readonly #name: string;
  #run: Run | undefined;
  #damage: WeftError | undefined;
  readonly #leftOut: WeftError[] = [];
  #lines = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** After the last line. */
  finish(): ReadRun {
    const run = this.#run ?? headerOf('', this.#name, Math.max(1, this.#lines));
    for (const error of this.#leftOut) markDamaged(run, error);
    return { run, damage: this.#damage ?? this.#leftOut[0] };
  }

  takeCut({ kind, bytes, lines }: Cut): void {
    if (kind === 'line') {
      this.#takeBytes(bytes);
      return;
    }
    this.#lines += lines;
    if (kind === 'too long' && this.#damage === undefined) this.#leaveOut();
  }

  #leaveOut(): void {
    const what = `${this.#name}, line ${this.#lines} is ${tooLongText}`;
    const hint =
      'Weft no longer writes such lines: an earlier version or another program wrote it.';
    const all =
      this.#run === undefined ? '' : ' and was left out; the other rows can still be read';
    const error = new WeftError('BAD_FILE', what + all, { hint });
    if (this.#run === undefined) throw error;
    this.#leftOut.push(error);
  }

  /** Most lines of a large matrix are plain. */
  #takeBytes(line: Buffer): void {
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
    if (this.#damage !== undefined || isBlank(line)) return;
    if (this.#run === undefined) {
      this.#run = headerOf(line, this.#name, this.#lines);
      return;
    }
    try {
      addLine(this.#run, line);
    } catch (cause) {
      this.#damage = badLine(this.#name, this.#lines, cause, this.#run.rows.length);
      markDamaged(this.#run, this.#damage);
    }
  }
}

function plainPair(line: Buffer): RowLine | undefined {
  try {
    const json: unknown = JSON.parse(line.toString());
    return isPlainPair(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** The run as it stands after its header: aborted, until a footer says otherwise. */
function headerOf(line: string, name: string, lineNumber: number): Run {
  try {
    const json: unknown = JSON.parse(line);
    refuseOtherSchema(json, name, lineNumber);
    const header = headerSchema.parse(json);
    return { ...header, endedAt: null, outcome: 'aborted', rows: [], errors: [] };
  } catch (cause) {
    if (cause instanceof WeftError) throw cause;
    throw badLine(name, lineNumber, cause);
  }
}

function refuseOtherSchema(json: unknown, name: string, lineNumber: number): void {
  const schema = (json as { schema?: unknown } | null)?.schema;
  if (typeof schema !== 'string' || schema === runSchemaName) return;
  throw new WeftError(
    'BAD_FILE',
    `${name}, line ${lineNumber}: its schema is ${schema}; this Weft reads ${runSchemaName}`,
    { hint: 'Read it with the Weft that wrote it, or name a run file.' },
  );
}

type RunLine = z.infer<typeof lineSchema>;

/** One line of a run file; undefined for kinds that came later, which are passed over as unknown keys are. */
export function parseLine(line: string): RunLine | undefined {
  const json: unknown = JSON.parse(line);
  if (isPlainPair(json)) return json;
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

/** Without `rowsBefore`, the line should have been the header. */
function badLine(name: string, line: number, cause: unknown, rowsBefore?: number): WeftError {
  const why = cause instanceof z.ZodError ? firstIssue(cause) : (cause as Error).message;
  const kept =
    rowsBefore === undefined ? '' : `; ${plural(rowsBefore, 'row')} before it can still be read`;
  return new WeftError(
    'BAD_FILE',
    `${name}, line ${line}: not a line of a run file (${why})${kept}`,
    {
      hint:
        rowsBefore === undefined
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
