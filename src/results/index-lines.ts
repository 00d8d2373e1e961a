/** The lines of an index file. What they refer to stands before them, so that a file can be appended to at any time. */
import { z } from 'zod';
import type { Headline } from './headline.js';
import {
  type FileStamp,
  type IndexedRun,
  type RowShape,
  type RunSetup,
  SharedParts,
  type SkippedFile,
} from './index-entry.js';
import { subjectSchema } from './run-glance.js';
import { headerSchema, type Outcome } from './schema.js';

const version = 'weft.index/1';

const stampLine = { file: z.string(), bytes: z.number(), modifiedMs: z.number() };
/** Of the header, nested keys that came later are kept too: lines are checked, and then used as they are. */
const lineSchema = z.union([
  z.strictObject({ index: z.literal(version) }),
  z.strictObject({
    setup: z.string(),
    header: headerSchema.omit({ schema: true, id: true, startedAt: true }),
  }),
  z.strictObject({ shape: z.string(), subjects: z.array(subjectSchema) }),
  z.strictObject({ ...stampLine, skipped: z.string() }),
]);
type Line = z.infer<typeof lineSchema>;

type Figures = readonly (number | null)[];

/** The most and the longest lines: `isRunLine` checks them, in a tenth of the time that a schema takes. */
interface RunLine extends Omit<IndexedRun, 'setup' | 'shape' | 'values'> {
  /** Hashes of its setup and its shape. */
  readonly of: readonly [string, string];
  readonly p50: Figures;
  readonly gbps: Figures;
  readonly spread: Figures;
  readonly outcomes: string;
}

function isRunLine(json: unknown): json is RunLine {
  if (!isObject(json)) return false;
  const line: Partial<Record<keyof RunLine, unknown>> = json;
  return (
    Array.isArray(line.of) &&
    [line.p50, line.gbps, line.spread].every(areFigures) &&
    [line.file, line.id, line.outcome, line.outcomes].every((one) => typeof one === 'string') &&
    [line.bytes, line.modifiedMs, line.tried].every((one) => typeof one === 'number') &&
    isTime(line.startedAt) &&
    (line.endedAt === null || isTime(line.endedAt)) &&
    Object.hasOwn(letters, line.outcome as string) &&
    (line.headline === undefined || isHeadline(line.headline))
  );
}

const isObject = (json: unknown): json is object => typeof json === 'object' && json !== null;
const isFigure = (one: unknown): boolean => one === null || typeof one === 'number';
const areFigures = (one: unknown): boolean => Array.isArray(one) && one.every(isFigure);
const isTime = (one: unknown): boolean => typeof one === 'string' && !Number.isNaN(Date.parse(one));

function isHeadline(json: unknown): boolean {
  if (!isObject(json)) return false;
  const { column, bytes, gbps = 0, mops = 0 }: Partial<Record<keyof Headline, unknown>> = json;
  return typeof column === 'string' && isFigure(bytes) && [gbps, mops].every(Number.isFinite);
}

const letters: Readonly<Record<Outcome, string>> = {
  passed: 'p',
  failed: 'f',
  skipped: 's',
  aborted: 'a',
};
const outcomeOf = new Map(Object.entries(letters).map(([name, letter]) => [letter, name]));

export type Entry = IndexedRun | SkippedFile;
export const isRun = (entry: Entry): entry is IndexedRun => 'setup' in entry;

/** Entries by file. A later line replaces an earlier one of the same file. */
export class IndexReader {
  readonly parts = new SharedParts();
  readonly entries = new Map<string, Entry>();
  /** Lines that say nothing any more, or never did. */
  waste = 0;
  /** Whether it begins as an index of this version does. */
  valid = false;
  readonly #setups = new Map<string, RunSetup>();
  readonly #shapes = new Map<string, RowShape>();

  /** Hashes of the setups and shapes that the lines so far have. */
  get partsSeen(): string[] {
    return [...this.#setups.keys(), ...this.#shapes.keys()];
  }

  set(entry: Entry): void {
    if (this.entries.has(entry.file)) this.waste++;
    this.entries.set(entry.file, entry);
  }

  take(text: string): void {
    if (text !== '' && !this.#has(jsonOf(text))) this.waste++;
  }

  /** Whether the line says something. A part whose hash is not its own is not what was written. */
  #has(json: unknown): boolean {
    if (this.valid && isRunLine(json)) return this.#keep(this.#run(json));
    if (!lineSchema.safeParse(json).success) return false;
    const line = json as Line;
    if ('index' in line) this.valid = true;
    else if (!this.valid) return false;
    else if ('setup' in line) {
      const setup = this.parts.setup(line.header);
      if (setup.hash !== line.setup) return false;
      this.#setups.set(setup.hash, setup);
    } else if ('shape' in line) {
      const shape = this.parts.shape(line.subjects);
      if (shape.hash !== line.shape) return false;
      this.#shapes.set(shape.hash, shape);
    } else return this.#keep(line);
    return true;
  }

  #keep(entry: Entry | undefined): boolean {
    if (entry !== undefined) this.set(entry);
    return entry !== undefined;
  }

  #run({ of, p50, gbps, spread, outcomes, ...rest }: RunLine): IndexedRun | undefined {
    const [setup, shape] = [this.#setups.get(of[0]), this.#shapes.get(of[1])];
    if (setup === undefined || shape === undefined) return undefined;
    const fits = [p50, gbps, spread, outcomes].every(
      ({ length }) => length === shape.subjects.length,
    );
    const found = outcomes.split('').map((letter) => outcomeOf.get(letter) as Outcome | undefined);
    if (!fits || !found.every((outcome) => outcome !== undefined)) return undefined;
    const values = {
      p50Nanoseconds: numbers(p50),
      gbps: numbers(gbps),
      spread: numbers(spread),
      outcomes: found,
    };
    return { ...rest, setup, shape, values };
  }
}

function numbers(values: Figures): Float64Array {
  const made = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) made[i] = values[i] ?? Number.NaN;
  return made;
}

/** Undefined for half a line. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes entries as lines, and before them what they refer to, where the file does not have it yet. */
export class IndexWriter {
  readonly #said: Set<string>;
  #begun: boolean;

  /** `said`: hashes of the parts that the file to append to has; absent for a new file. */
  constructor(said?: readonly string[]) {
    this.#said = new Set(said);
    this.#begun = said !== undefined;
  }

  lines(entries: Iterable<Entry>): string {
    // The file may end in half a line, of a process that was killed: the empty line ends it.
    const pieces = [this.#begun ? '\n' : lineOf({ index: version })];
    this.#begun = true;
    for (const entry of entries) pieces.push(isRun(entry) ? this.#run(entry) : lineOf(entry));
    return pieces.join('');
  }

  #run({ setup, shape, values, ...rest }: IndexedRun): string {
    let text = this.#once(setup.hash, { setup: setup.hash, header: setup.header });
    text += this.#once(shape.hash, { shape: shape.hash, subjects: shape.subjects });
    return (
      text +
      lineOf({
        ...rest,
        of: [setup.hash, shape.hash],
        p50: Array.from(values.p50Nanoseconds, orNull),
        gbps: Array.from(values.gbps, orNull),
        spread: Array.from(values.spread, orNull),
        outcomes: values.outcomes.map((outcome) => letters[outcome]).join(''),
      })
    );
  }

  #once(hash: string, line: object): string {
    if (this.#said.has(hash)) return '';
    this.#said.add(hash);
    return lineOf(line);
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

const lineOf = (content: object): string => `${JSON.stringify(content)}\n`;

export const isSame = (a: FileStamp, b: FileStamp): boolean =>
  a.bytes === b.bytes && a.modifiedMs === b.modifiedMs;
