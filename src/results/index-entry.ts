import { createHash } from 'node:crypto';
import { median } from '../measure/quantile.js';
import type { Headline } from './headline.js';
import { isLarge } from './large-matrix.js';
import { type RowSubject, rowKey } from './row-key.js';
import { isInMatrix } from './row-kinds.js';
import {
  better,
  type Glance,
  type GlanceRow,
  type HeaderJson,
  headlineOf,
  isTried,
} from './run-glance.js';
import type { Outcome, RunHeader } from './schema.js';

/** A file of the folder as it was when it was read. */
export interface FileStamp {
  readonly file: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** What runs have in common that were made alike; one object for all of them. */
export interface RunSetup {
  readonly hash: string;
  /** The header without what differs from run to run. It also holds keys that this version does not know. */
  readonly header: Omit<RunHeader, 'schema' | 'id' | 'startedAt'> &
    Readonly<Record<string, unknown>>;
  readonly settingsHash: string;
}

/** Which rows a run has; one object for all runs with the same rows. Repeats are one row. */
export interface RowShape {
  readonly hash: string;
  readonly subjects: readonly RowSubject[];
  /** `rowKey` of each. */
  readonly keys: readonly string[];
}

/** Figures of the rows of one run, in the order of its shape; NaN where a row has none. */
export interface RowValues {
  /** Median time of an iteration. */
  readonly p50Nanoseconds: Float64Array;
  /** At the median time, so that both tell the same story. */
  readonly gbps: Float64Array;
  /** From the fastest sample to the 95th percentile, as a share of the median. */
  readonly spread: Float64Array;
  readonly outcomes: readonly Outcome[];
}

/** A run without its samples. */
export interface IndexedRun extends FileStamp {
  readonly id: string;
  readonly startedAt: string;
  /** Null where the file has no footer: the run goes on, or was aborted. */
  readonly endedAt: string | null;
  readonly outcome: Outcome;
  /** Rows that were tried, every repeat counted. */
  readonly tried: number;
  readonly headline?: Headline;
  readonly setup: RunSetup;
  readonly shape: RowShape;
  readonly values: RowValues;
}

/** A file that is no run file, or a damaged one. */
export interface SkippedFile extends FileStamp {
  readonly skipped: string;
}

export interface IndexedRow extends RowSubject {
  readonly key: string;
  readonly outcome: Outcome;
  readonly p50Nanoseconds: number | null;
  readonly gbps: number | null;
  readonly spread: number | null;
}

const known = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** Made on each call: an index of many runs holds figures, not rows. */
export const rowsOf = ({ shape, values }: IndexedRun): IndexedRow[] =>
  shape.subjects.map((subject, i) => ({
    ...subject,
    key: shape.keys[i]!,
    outcome: values.outcomes[i]!,
    p50Nanoseconds: known(values.p50Nanoseconds[i]!),
    gbps: known(values.gbps[i]!),
    spread: known(values.spread[i]!),
  }));

const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** Setups and shapes, each once. */
export class SharedParts {
  readonly setups = new Map<string, RunSetup>();
  readonly shapes = new Map<string, RowShape>();

  setup(header: RunSetup['header']): RunSetup {
    const hash = hashOf(header);
    const made = this.setups.get(hash) ?? { hash, header, settingsHash: hashOf(header.settings) };
    this.setups.set(hash, made);
    return made;
  }

  shape(subjects: readonly RowSubject[]): RowShape {
    const hash = hashOf(subjects);
    const made = this.shapes.get(hash) ?? { hash, subjects, keys: subjects.map(rowKey) };
    this.shapes.set(hash, made);
    return made;
  }
}

/** Takes the lines of one run file, in their order, and becomes its entry. */
export class EntryMaker {
  #header: HeaderJson | undefined;
  #footer: Extract<Glance, { line: 'footer' }> | undefined;
  #headline: Headline | undefined;
  #tried = 0;
  readonly #rows = new Map<string, GlanceRow[]>();

  /** Throws where the line cannot be here. */
  take(glance: Glance): void {
    if ((glance.line === 'header') !== (this.#header === undefined)) throw new Error('no header');
    if (glance.line === 'header') this.#header = glance.json;
    else if (glance.line === 'footer') this.#footer = glance;
    else if (glance.line === 'row') this.#takeRow(glance.row);
  }

  #takeRow(row: GlanceRow): void {
    if (isTried(row)) this.#tried++;
    this.#headline = better(this.#headline, headlineOf(row));
    const entry = this.#header && isLarge(this.#header.world) && isInMatrix(row) ? ofAll(row) : row;
    const key = rowKey(entry);
    const repeats = this.#rows.get(key);
    if (repeats === undefined) this.#rows.set(key, [entry]);
    else repeats.push({ ...entry, labels: repeats[0]!.labels });
  }

  finish(stamp: FileStamp, parts: SharedParts): IndexedRun | undefined {
    if (this.#header === undefined) return undefined;
    const { line: _, schema: __, id, startedAt, ...header } = this.#header;
    const rows = [...this.#rows.values()];
    const subjects = rows.map(([row]) => subjectOf(row!));
    return {
      ...stamp,
      id,
      startedAt,
      endedAt: this.#footer?.endedAt ?? null,
      outcome: this.#footer?.outcome ?? 'aborted',
      tried: this.#tried,
      ...(this.#headline && { headline: this.#headline }),
      setup: parts.setup(header as RunSetup['header']),
      shape: parts.shape(subjects),
      values: valuesOf(rows),
    };
  }
}

const subjectOf = ({ kind, column, bytes, labels }: GlanceRow): RowSubject => ({
  ...{ kind, column, bytes, labels },
});

function valuesOf(rows: readonly (readonly GlanceRow[])[]): RowValues {
  const of = (figure: (row: GlanceRow) => number | null | undefined) =>
    Float64Array.from(rows, (repeats) => middleOf(repeats.filter(passed).map(figure)));
  return {
    p50Nanoseconds: of((row) => row.nanoseconds?.p50),
    gbps: of(({ gbps, nanoseconds: time }) => gbps && time && (gbps * time.mean) / time.p50),
    spread: of(({ nanoseconds: time }) => time && (time.p95 - time.min) / time.p50),
    outcomes: rows.map(worst),
  };
}

/** The pairs of a large matrix are one row: a history of each of a million says nothing. */
function ofAll({ labels: { from: _, to: __, ...labels }, ...row }: GlanceRow): GlanceRow {
  return { ...row, labels };
}

/** Enough for any figure, and short where they are stored. */
const digits = 7;

const passed = ({ outcome }: GlanceRow): boolean => outcome === 'passed';

function middleOf(values: readonly (number | null | undefined)[]): number {
  const found = values.filter((value) => value != null && Number.isFinite(value)) as number[];
  return found.length === 0 ? Number.NaN : Number(median(found).toPrecision(digits));
}

/** What failed once has failed. */
const worst = (repeats: readonly GlanceRow[]): Outcome =>
  (
    repeats.find(({ outcome }) => outcome === 'failed' || outcome === 'aborted') ??
    repeats.find(passed) ??
    repeats[0]!
  ).outcome;
