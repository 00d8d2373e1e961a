import { type FSWatcher, watch } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { folderError } from '../results/folder-error.js';
import { runFileEnding as ending } from '../results/index-files.js';
import { type IndexedRun, RunIndex } from '../results/run-index.js';
import { Bell } from './bell.js';
import { RunBatches } from './run-batches.js';
import { type LogOwner, RunLog, reasonOf, tooManyOpen } from './run-log.js';
import { markAbandoned } from './writers.js';

export interface FoundRun {
  readonly log: RunLog;
  readonly batches: RunBatches;
}

/** Where the kernel tells us nothing (a network file system, no watches left) this is how late we are. */
const safetyNetMs = 2_000;
/** How often those who look hear how far a first reading is. */
const progressMs = 500;

/**
 * The runs of a folder. Those that have ended come from the folder's index and cost no more than a line of it; a file
 * is only read to follow it, or to show it. One watch of the kernel's on the folder says which file grew; it is only
 * acted upon while somebody looks. Files are found by listing the folder: no name from outside ever becomes a path.
 */
export class RunFolder implements Disposable {
  readonly path: string;
  /** Rings when any run has changed. */
  readonly bell = new Bell();
  /** Files that are followed, shown or not understood. */
  readonly #logs = new Map<string, FoundRun>();
  /** Runs that have ended, by key. */
  #ended: ReadonlyMap<string, IndexedRun> = new Map();
  readonly #index: RunIndex;
  readonly #owner: LogOwner = {
    changed: () => this.bell.ring(),
    came: (rows) => {
      this.rows += rows;
    },
  };
  #refreshing: Promise<void> | undefined;
  /** The looks at the folder, one after the other: two at once would find the same new file twice. */
  #looks: Promise<void> = Promise.resolve();
  #netting = false;
  #watcher: FSWatcher | undefined;
  #net: NodeJS.Timeout | undefined;
  #viewers = 0;
  #toldMs = 0;
  /** A file of a run that had ended has changed. */
  #recheck = false;
  /** Logs that had come to their end when the index was last brought up to date. */
  #finished = 0;
  /** Why the folder cannot be listed at the moment. */
  problem: string | undefined;
  /** Why the kernel does not tell of changes, where it does not; known while somebody looks. */
  unwatched: string | undefined;
  /** How many of the files that the index does not have are read, while they are. */
  reading: { readonly done: number; readonly of: number } | undefined;
  /** Rows that were seen to be appended to a run that was known before. */
  rows = 0;

  private constructor(path: string, index: RunIndex) {
    this.path = path;
    this.#index = index;
  }

  static async open(asked: string): Promise<RunFolder> {
    try {
      const path = await realpath(asked);
      await readdir(path);
      return new RunFolder(path, await RunIndex.open(path));
    } catch (cause) {
      throw folderError(asked, cause);
    }
  }

  /** By what the folder holds now. */
  async lookUp(key: string): Promise<FoundRun | undefined> {
    if (!this.#logs.has(key) && !this.#ended.has(key)) await this.refresh();
    const ended = this.#ended.get(key);
    const found = this.#logs.get(key) ?? (ended && this.#add(key, ended.file));
    await found?.log.advance();
    return this.#logs.get(key);
  }

  /** Every run, by key: as its file is followed, or as the index has it. */
  runs(): ReadonlyMap<string, RunLog | IndexedRun> {
    const logs = [...this.#logs].map(([key, { log }]) => [key, log] as const);
    return new Map<string, RunLog | IndexedRun>([...this.#ended, ...logs]);
  }

  /** The run of this key in the index, if it has ended. */
  ended(key: string): IndexedRun | undefined {
    return this.#ended.get(key);
  }

  /** The runs that the index has, oldest first; another array whenever one of them is. */
  get indexed(): readonly IndexedRun[] {
    return this.#index.runs;
  }

  /** Brings everything up to date; callers at the same time share the work. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#inTurn('all').finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** From now until the returned function is called, once, changes are followed. */
  follow(): () => void {
    if (this.#viewers++ === 0) this.#start();
    return () => {
      if (--this.#viewers === 0) this.#stop();
    };
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #inTurn(which: 'all' | 'unfinished'): Promise<void> {
    this.#looks = this.#looks.then(() => this.#look(which));
    return this.#looks;
  }

  /** Never rejects: what goes wrong is the folder's problem, told to whoever looks. */
  async #look(which: 'all' | 'unfinished'): Promise<void> {
    const before = this.problem;
    try {
      if (which === 'all') await this.#readAll();
      else await this.#readUnfinished();
      this.problem = undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      this.problem = code === 'EMFILE' ? tooManyOpen : (code ?? String(error));
      this.#ended = new Map();
      for (const key of this.#logs.keys()) this.#drop(key);
    }
    if (before !== this.problem) this.bell.ring();
  }

  async #readAll(): Promise<void> {
    const before = this.#index.runs;
    const recheck = this.#recheck;
    this.#recheck = false;
    await this.#index.update({ recheck, progress: (done, of) => this.#tell({ done, of }) });
    this.reading = undefined;
    if (this.#index.runs !== before) this.bell.ring();
    const ended = new Map<string, IndexedRun>();
    for (const run of this.#index.runs) {
      if (run.endedAt !== null) ended.set(keyOf(run.file), run);
    }
    this.#ended = ended;
    const rest = this.#index.runFiles.filter((file) => !ended.has(keyOf(file)));
    const present = new Set(rest.map(keyOf));
    for (const key of this.#logs.keys()) {
      if (!present.has(key) && !ended.has(key)) this.#drop(key);
    }
    for (const file of rest) if (!this.#logs.has(keyOf(file))) this.#add(keyOf(file), file);
    await this.#follow();
    this.#finished = this.#finishedLogs();
  }

  /** What has ended is left alone: a folder of many runs costs no more than those that run. */
  async #readUnfinished(): Promise<void> {
    const entries = await readdir(this.path, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
    if (!this.#index.hasExactly(names.map(({ name }) => name))) return this.#readAll();
    await this.#follow();
    if (this.#finishedLogs() !== this.#finished) await this.#readAll();
  }

  async #follow(): Promise<void> {
    const logs = [...this.#logs.values()].map(({ log }) => log);
    await Promise.all(logs.filter((log) => !log.ended).map((log) => log.advance()));
    await markAbandoned(logs);
  }

  #finishedLogs(): number {
    return [...this.#logs.values()].filter(({ log }) => log.finished).length;
  }

  #tell(reading: { readonly done: number; readonly of: number }): void {
    this.reading = reading;
    if (Date.now() - this.#toldMs < progressMs) return;
    this.#toldMs = Date.now();
    this.bell.ring();
  }

  #add(key: string, file: string): FoundRun {
    const log = new RunLog(key, join(this.path, file), this.#owner);
    const found = { log, batches: new RunBatches(log) };
    this.#logs.set(key, found);
    return found;
  }

  #drop(key: string): void {
    const found = this.#logs.get(key);
    this.#logs.delete(key);
    void found?.log.advance();
    this.bell.ring();
  }

  #start(): void {
    this.#net = setInterval(() => void this.#castNet(), safetyNetMs);
    try {
      this.#watcher = watch(this.path, (_, name) => this.#changed(name));
      this.unwatched = undefined;
      this.#watcher.on('error', (error) => this.#loseWatch(error));
    } catch (error) {
      this.#loseWatch(error);
    }
  }

  /** The safety net alone, then. */
  #loseWatch(error: unknown): void {
    this.#watcher?.close();
    this.unwatched = reasonOf(error);
    this.bell.ring();
  }

  /** A look that takes longer than the time between two is not followed by a queue of them. */
  async #castNet(): Promise<void> {
    if (this.#netting) return;
    this.#netting = true;
    await this.#inTurn('unfinished');
    this.#netting = false;
  }

  #stop(): void {
    clearInterval(this.#net);
    this.#watcher?.close();
    this.#watcher = undefined;
    for (const { batches } of this.#logs.values()) batches.forget();
  }

  #changed(name: string | null): void {
    // The index itself, among others.
    if (name?.startsWith('.')) return;
    const known = name === null ? undefined : this.#logs.get(keyOf(name));
    if (known !== undefined) return void known.log.advance();
    this.#recheck ||= name === null || this.#ended.has(keyOf(name));
    void this.refresh();
  }
}

const keyOf = (name: string): string =>
  name.endsWith(ending) ? name.slice(0, -ending.length) : name;
