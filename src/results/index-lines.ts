/** The lines of an index file. What they refer to stands before them, so that a file can be appended to at any time. */
import { z } from 'zod';
import {
  type FileStamp,
  type IndexedRun,
  type RowShape,
  type RunSetup,
  SharedParts,
  type SkippedFile,
} from './index-entry.js';
import type { RowSubject } from './row-key.js';
import type { Outcome } from './schema.js';

const version = 'weft.index/1';

const stampLine = { file: z.string(), bytes: z.number(), modifiedMs: z.number() };
const lineSchema = z.union([
  z.object({ index: z.literal(version) }),
  z.object({ setup: z.string(), header: z.record(z.string(), z.unknown()) }),
  z.object({ shape: z.string(), subjects: z.array(z.record(z.string(), z.unknown())) }),
  z.object({ ...stampLine, skipped: z.string() }),
]);

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

function isRunLine(json: object): json is RunLine {
  const line = json as Record<keyof RunLine, unknown>;
  return (
    Array.isArray(line.of) &&
    [line.p50, line.gbps, line.spread].every(Array.isArray) &&
    [line.file, line.id, line.startedAt, line.outcomes].every((one) => typeof one === 'string') &&
    [line.bytes, line.modifiedMs, line.tried].every((one) => typeof one === 'number') &&
    (line.endedAt === null || typeof line.endedAt === 'string') &&
    (line.outcome as string) in letters
  );
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
    if (text === '') return;
    const line = parsed(text);
    if (line && 'index' in line) this.valid = true;
    else if (line === undefined || !this.valid) this.waste++;
    else if ('setup' in line) {
      this.#setups.set(line.setup, this.parts.setup(line.header as RunSetup['header']));
    } else if ('shape' in line) {
      this.#shapes.set(line.shape, this.parts.shape(line.subjects as never as RowSubject[]));
    } else {
      const entry = 'skipped' in line ? line : this.#run(line);
      if (entry === undefined) this.waste++;
      else this.set(entry);
    }
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

/** Undefined for half a line, and for whatever else stands there. */
function parsed(text: string): z.infer<typeof lineSchema> | RunLine | undefined {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null && isRunLine(json)) return json;
    return lineSchema.safeParse(json).data;
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
