import { type FSWatcher, watch } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { WeftError } from '../errors.js';
import { Bell } from './bell.js';
import { RunBatches } from './run-batches.js';
import { type LogOwner, RunLog, reasonOf } from './run-log.js';
import type { RunSummary } from './wire.js';
import { markAbandoned } from './writers.js';

export interface FoundRun {
  readonly log: RunLog;
  readonly batches: RunBatches;
}

/** Where the kernel tells us nothing (a network file system, no watches left) this is how late we are. */
const safetyNetMs = 2_000;
const filesAtOnce = 8;
const ending = '.jsonl';

/**
 * The runs of a folder. One watch of the kernel's on the folder says which file grew; it is only acted upon while
 * somebody looks. Files are found by listing the folder: no name from outside ever becomes a path.
 */
export class RunFolder implements Disposable {
  readonly path: string;
  /** Rings when any run has changed. */
  readonly bell = new Bell();
  readonly #runs = new Map<string, FoundRun>();
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
  /** Why the folder cannot be listed at the moment. */
  problem: string | undefined;
  /** Why the kernel does not tell of changes, where it does not; known while somebody looks. */
  unwatched: string | undefined;
  /** Rows that were seen to be appended to a run that was known before. */
  rows = 0;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(asked: string): Promise<RunFolder> {
    try {
      const path = await realpath(asked);
      await readdir(path);
      return new RunFolder(path);
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const why =
        { ENOENT: 'does not exist', ENOTDIR: 'is not a folder', EACCES: 'is not readable' }[
          code ?? ''
        ] ?? message;
      throw new WeftError('BAD_USAGE', `${asked} ${why}`, {
        hint: 'Name a folder of run files; benchmarks write theirs to weft-results/.',
        cause,
      });
    }
  }

  /** By what the folder holds now. */
  async lookUp(key: string): Promise<FoundRun | undefined> {
    const known = this.#runs.get(key);
    if (known === undefined) await this.refresh();
    else await known.log.advance();
    return this.#runs.get(key);
  }

  get logs(): RunLog[] {
    return [...this.#runs.values()].map(({ log }) => log);
  }

  summaries(): RunSummary[] {
    return this.logs
      .map((log) => log.summary())
      .sort((a, b) => (whenOf(a) < whenOf(b) ? 1 : whenOf(a) > whenOf(b) ? -1 : 0));
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
      await this.#readAll(which);
    } catch (error) {
      this.problem = reasonOf(error);
    }
    if (before !== this.problem) this.bell.ring();
  }

  async #readAll(which: 'all' | 'unfinished'): Promise<void> {
    const names = await this.#list();
    const keys = new Set(names.map(keyOf));
    for (const key of this.#runs.keys()) {
      if (!keys.has(key)) this.#drop(key);
    }
    const finished = (name: string) => this.#runs.get(keyOf(name))?.log.ended ?? false;
    const todo = names.filter((name) => which === 'all' || !finished(name)).values();
    const worker = async () => {
      for (const name of todo) await this.#readOne(name);
    };
    await Promise.all(Array.from({ length: filesAtOnce }, worker));
    await markAbandoned(this.logs);
  }

  async #list(): Promise<string[]> {
    try {
      // Links and pipes are left alone: only what lies in this folder is shown.
      const entries = await readdir(this.path, { withFileTypes: true });
      this.problem = undefined;
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    } catch (error) {
      this.problem = (error as NodeJS.ErrnoException).code ?? String(error);
      return [];
    }
  }

  async #readOne(name: string): Promise<void> {
    const key = keyOf(name);
    const path = join(this.path, name);
    const known = this.#runs.has(key) || name.endsWith(ending) || (await beginsLikeRun(path));
    if (known) await (this.#runs.get(key) ?? this.#add(key, path)).log.advance();
  }

  #add(key: string, path: string): FoundRun {
    const log = new RunLog(key, path, this.#owner);
    const found = { log, batches: new RunBatches(log) };
    this.#runs.set(key, found);
    return found;
  }

  #drop(key: string): void {
    const found = this.#runs.get(key);
    this.#runs.delete(key);
    void found?.log.advance();
    this.bell.ring();
  }

  #start(): void {
    // What has ended is left alone: a folder of many runs costs no more than those that run.
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
    for (const { batches } of this.#runs.values()) batches.forget();
  }

  #changed(name: string | null): void {
    if (name !== null && this.#runs.has(keyOf(name))) void this.#readOne(name);
    else void this.refresh();
  }
}

const keyOf = (name: string): string =>
  name.endsWith(ending) ? name.slice(0, -ending.length) : name;

const whenOf = ({ header, modifiedAt }: RunSummary): string => header?.startedAt ?? modifiedAt;

const firstBytes = '{"line":"header","schema":"weft.run/';

/** `--out` takes any name. */
async function beginsLikeRun(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(firstBytes.length), 0);
      return bytesRead === firstBytes.length && buffer.toString() === firstBytes;
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}
