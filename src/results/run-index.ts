import { randomBytes } from 'node:crypto';
import { appendFile, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileStamp, IndexedRun, SkippedFile } from './index-entry.js';
import { inParallel, isSystemError, readEntry, runFileEnding, stampsOf } from './index-files.js';
import { type Entry, IndexReader, IndexWriter, isRun, isSame } from './index-lines.js';
import { eachLine } from './run-lines.js';

export { type IndexedRow, type IndexedRun, rowsOf, type SkippedFile } from './index-entry.js';

/** Beside the run files, without their ending: commands that take a folder pass it over. */
export const indexName = '.weft-index';

/** Entries are stored after so many: a build that is stopped goes on from there. */
const storedAtOnce = 500;
/** An index with this many more useless lines than runs is written anew. */
const toleratedWaste = 1_000;

interface UpdateOptions {
  /**
   * Whether files of runs that have ended are looked at again, as the first update does in any case. They are never
   * written to: without it, only one that was replaced by another of its name is overlooked.
   */
  readonly recheck?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called after each file that had to be read. */
  readonly progress?: ((done: number, of: number) => void) | undefined;
}

/**
 * The runs of a folder without their samples. Run files are the truth; the index file only saves reading them again. It
 * may be absent, damaged, or written by several processes at once: what it lacks is read from the run files. Calls of
 * `update` must not overlap.
 */
export class RunIndex {
  readonly folder: string;
  /** Why the index could not be stored; in memory it is complete all the same. */
  unsaved: string | undefined;
  /** How many files the last update had to read. */
  filesRead = 0;
  readonly #path: string;
  readonly #reader = new IndexReader();
  /** Undefined while there is no index file to append to. */
  #writer: IndexWriter | undefined;
  #files = new Map<string, Entry>();
  #runs: IndexedRun[] | undefined;
  #saves: Promise<void> = Promise.resolve();

  private constructor(folder: string) {
    this.folder = folder;
    this.#path = join(folder, indexName);
  }

  /** Reads the index file only; `update` looks at the folder. */
  static async open(folder: string): Promise<RunIndex> {
    const index = new RunIndex(folder);
    await index.#load();
    return index;
  }

  /** Of the folder as the last update found it, oldest first. The same array until something changes. */
  get runs(): readonly IndexedRun[] {
    this.#runs ??= [...this.#files.values()].filter(isRun).sort(byStart);
    return this.#runs;
  }

  /** Files that hold a run or are named as if they did. */
  get runFiles(): string[] {
    return [...this.#files.values()].filter(isKept).map(({ file }) => file);
  }

  /** Whether these are the files that the last update found. */
  hasExactly(names: readonly string[]): boolean {
    return names.length === this.#files.size && names.every((name) => this.#files.has(name));
  }

  /** Files named like run files that are none, or are damaged. */
  get skipped(): SkippedFile[] {
    return [...this.#files.values()].filter(
      (entry): entry is SkippedFile => !isRun(entry) && isKept(entry),
    );
  }

  /** What is known of this file, if it has not changed since. */
  fresh(stamp: FileStamp): Entry | undefined {
    const entry = this.#reader.entries.get(stamp.file);
    return entry !== undefined && isSame(entry, stamp) ? entry : undefined;
  }

  /** Brings it up to date with the folder and stores what is new. */
  async update({ recheck = true, signal, progress }: UpdateOptions = {}): Promise<this> {
    const stamps = await stampsOf(this.folder, (file) => {
      const entry = recheck ? undefined : this.#files.get(file);
      return entry !== undefined && isRun(entry) && entry.endedAt !== null ? entry : undefined;
    });
    const files = new Map<string, Entry>();
    for (const stamp of stamps) {
      const entry = this.fresh(stamp);
      if (entry !== undefined) files.set(stamp.file, entry);
    }
    const todo = stamps.filter(({ file }) => !files.has(file));
    const fresh: Entry[] = [];
    this.filesRead = 0;
    await inParallel(todo, async (stamp) => {
      signal?.throwIfAborted();
      files.set(stamp.file, await this.#read(stamp, fresh));
      this.filesRead++;
      progress?.(this.filesRead, todo.length);
      if (fresh.length >= storedAtOnce) await this.#store(fresh.splice(0));
    });
    await this.#store(fresh);
    if (todo.length > 0 || files.size !== this.#files.size) this.#runs = undefined;
    this.#files = files;
    await this.#tidy();
    return this;
  }

  /** What the system refuses today may be readable tomorrow, with the same stamp: that is not stored. */
  async #read(stamp: FileStamp, fresh: Entry[]): Promise<Entry> {
    try {
      const entry = await readEntry(this.folder, stamp, this.#reader.parts);
      this.#reader.set(entry);
      if (isKept(entry)) fresh.push(entry);
      return entry;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return { ...stamp, skipped: error.code ?? error.message };
    }
  }

  async #load(): Promise<void> {
    try {
      const file = await open(this.#path, 'r');
      try {
        const { size } = await file.stat();
        await eachLine(file, 0, size, ({ bytes }) => this.#reader.take(bytes.toString()));
      } finally {
        await file.close();
      }
    } catch {
      // Absent, or not readable: everything comes from the run files.
    }
    if (this.#reader.valid) this.#writer = new IndexWriter(this.#reader.partsSeen);
  }

  async #store(entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#saving(async () => {
      if (this.#writer === undefined) await this.#rewrite();
      else await appendFile(this.#path, this.#writer.lines(entries));
    });
  }

  /** All or nothing. What another process appends meanwhile is lost here, and read from its run file again. */
  async #rewrite(): Promise<void> {
    const draft = `${this.#path}.${randomBytes(6).toString('hex')}.tmp`;
    const writer = new IndexWriter();
    try {
      await writeFile(draft, writer.lines([...this.#reader.entries.values()].filter(isKept)));
      await rename(draft, this.#path);
      this.#writer = writer;
      this.#reader.waste = 0;
    } finally {
      await rm(draft, { force: true });
    }
  }

  async #tidy(): Promise<void> {
    const gone = [...this.#reader.entries.keys()].filter((file) => !this.#files.has(file));
    if (this.#reader.waste + gone.length <= this.#files.size + toleratedWaste) return;
    for (const file of gone) this.#reader.entries.delete(file);
    await this.#saving(() => this.#rewrite());
  }

  /** One after the other: a rewrite must not end after what was appended to the file it replaces. */
  #saving(write: () => Promise<void>): Promise<void> {
    this.#saves = this.#saves.then(() => this.#save(write));
    return this.#saves;
  }

  async #save(write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.unsaved = undefined;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.unsaved = code ?? message;
    }
  }
}

/** The index of a folder, up to date. Throws what the system throws where the folder cannot be listed. */
export async function readRunIndex(folder: string, options: UpdateOptions = {}): Promise<RunIndex> {
  const index = await RunIndex.open(folder);
  return index.update(options);
}

/** Files that hold a run or are named as if they did. Others may be many, and a look at one costs no more than a line. */
const isKept = (entry: Entry): boolean => isRun(entry) || entry.file.endsWith(runFileEnding);

const byStart = (a: IndexedRun, b: IndexedRun): number =>
  a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : a.file < b.file ? -1 : 1;
