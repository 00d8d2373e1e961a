import { createHash } from 'node:crypto';
import { lstat, open } from 'node:fs/promises';
import type { Headline } from '../results/headline.js';
import { isLarge } from '../results/large-matrix.js';
import { readOwnFile } from '../results/open-file.js';
import {
  better,
  type Glance,
  type GlanceHeader,
  glanceAt,
  headlineOf,
  isTried,
} from '../results/run-glance.js';
import { eachLine, limits, tooLongText } from '../results/run-lines.js';
import { Bell } from './bell.js';
import { SlowestPairs } from './slowest-pairs.js';
import type { RunState, RunSummary } from './wire.js';

export interface LogOwner {
  changed(): void;
  /** Rows were appended to a file that was known before. */
  came(rows: number): void;
}

/**
 * A run file as it grows. It is read from where it was left, never twice: what is kept are the places of its lines,
 * and what a list needs to know. Whoever calls `advance` decides when to look.
 */
export class RunLog {
  readonly key: string;
  readonly path: string;
  /** Rings when anything below has changed. */
  readonly bell = new Bell();
  /** Changes when the file is another, or was cut: what was read before is void. */
  epoch = 0;
  /** Tells the same file from another one, also across restarts. */
  generation = '';
  /** Byte at which each line begins, and after them the byte at which the next will. Blank lines belong to the one before. */
  starts: number[] = [0];
  header: GlanceHeader | undefined;
  /** Of a run with a large matrix: which of its lines pages get. */
  slowest: SlowestPairs | undefined;
  rows = 0;
  /** Nobody seems to write to it, though it has no footer. A row that comes all the same takes this back. */
  abandoned = false;
  modifiedMs = 0;
  ownerUid: number | undefined;
  #ended: Extract<Glance, { line: 'footer' }> | undefined;
  #headline: Headline | undefined;
  #problem: string | undefined;
  #inode = 0;
  #lineNumber = 0;
  #size = 0;
  #work: Promise<void> = Promise.resolve();
  readonly #owner: LogOwner;

  constructor(key: string, path: string, owner: LogOwner) {
    this.key = key;
    this.path = path;
    this.#owner = owner;
  }

  get lines(): number {
    return this.starts.length - 1;
  }

  /** Nothing more will come: it has its footer, or cannot be read. */
  get ended(): boolean {
    return this.#ended !== undefined || this.#problem !== undefined;
  }

  /** It has its footer, and nothing is wrong with it. */
  get finished(): boolean {
    return this.#ended !== undefined && this.#problem === undefined;
  }

  get state(): RunState {
    if (this.header === undefined && this.#problem !== undefined) return 'unreadable';
    if (this.#problem !== undefined) return 'aborted';
    if (this.#ended !== undefined) return this.#ended.outcome;
    return this.abandoned ? (this.header ? 'aborted' : 'unreadable') : 'running';
  }

  /** Reads what was appended. Calls queue up; a file that cannot be read becomes a problem, not an error. */
  advance(): Promise<void> {
    this.#work = this.#work.then(async () => {
      const before = this.#mark();
      const { epoch, lines, rows } = this;
      try {
        await this.#read();
      } catch (error) {
        this.#problem = reasonOf(error);
      }
      if (lines > 0 && this.epoch === epoch) this.#owner.came(this.rows - rows);
      if (this.#mark() !== before) this.#ring();
    });
    return this.#work;
  }

  /** Says whether somebody still writes, which only matters without a footer. */
  setAbandoned(abandoned: boolean): void {
    if (this.abandoned === abandoned) return;
    this.abandoned = abandoned;
    this.#ring();
  }

  summary(): RunSummary {
    const problem = this.#problem ?? (this.header ? undefined : 'not a run file: it has no header');
    return {
      key: this.key,
      state: this.state,
      rows: this.rows,
      modifiedAt: new Date(this.modifiedMs).toISOString(),
      ...(this.header && { header: this.header }),
      ...(this.#ended && { endedAt: this.#ended.endedAt }),
      ...(this.#headline && { headline: this.#headline }),
      ...(problem !== undefined && this.state !== 'running' && { problem }),
    };
  }

  #ring(): void {
    this.bell.ring();
    this.#owner.changed();
  }

  #mark(): string {
    return `${this.epoch} ${this.starts.at(-1)} ${this.state} ${this.#problem}`;
  }

  #reset(): void {
    this.epoch++;
    this.starts = [0];
    this.header = undefined;
    this.slowest = undefined;
    this.rows = 0;
    this.abandoned = false;
    this.#ended = undefined;
    this.#headline = undefined;
    this.#problem = undefined;
    this.#size = 0;
    this.#lineNumber = 0;
  }

  /** Somebody put a link or a pipe where the file was: what it leads to is none of this folder's. */
  #lose({ ino }: { readonly ino: number }): void {
    if (ino === this.#inode) return;
    this.#reset();
    this.#inode = ino;
    throw new Error('not a file');
  }

  async #read(): Promise<void> {
    const found = await lstat(this.path);
    if (!found.isFile()) return this.#lose(found);
    const { ino, size, mtimeMs, uid } = found;
    this.modifiedMs = mtimeMs;
    if (ino === this.#inode && size === this.#size) return;
    if (ino !== this.#inode || size < this.#size) this.#reset();
    this.#inode = ino;
    this.#size = size;
    this.abandoned = false;
    this.ownerUid = uid;
    if (this.#problem !== undefined) return;
    if (size > limits.fileBytes) throw new Error('too large to show');
    const file = await open(this.path, readOwnFile);
    try {
      await eachLine(file, this.starts.at(-1)!, size, ({ kind, bytes, end, lines }) => {
        this.#lineNumber += lines;
        if (kind === 'too long') throw new Error(`line ${this.#lineNumber} is ${tooLongText}`);
        if (kind === 'blank') {
          this.starts[this.starts.length - 1] = end;
          return;
        }
        this.#take(bytes);
        this.starts.push(end);
      });
    } finally {
      await file.close();
    }
  }

  #take(line: Buffer): void {
    const isFirst = this.lines === 0;
    let glance: Glance;
    try {
      glance = glanceAt(line);
    } catch {
      throw new Error(isFirst ? 'not a run file' : `damaged at line ${this.#lineNumber}`);
    }
    if ((glance.line === 'header') !== isFirst) throw new Error('not a run file');
    if (glance.line === 'header') {
      this.header = glance.header;
      if (isLarge(glance.header.world)) this.slowest = new SlowestPairs(glance.header.world);
      this.generation = createHash('sha256').update(line).digest('hex').slice(0, 12);
    } else if (glance.line === 'row') {
      if (isTried(glance.row)) this.rows++;
      this.#headline = better(this.#headline, headlineOf(glance.row));
    } else if (glance.line === 'footer') this.#ended = glance;
    this.slowest?.take(this.lines, glance.line === 'row' ? glance.row : undefined);
  }
}

export const tooManyOpen = 'too many open files: raise the limit with `ulimit -n 65536`';

export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'the file was removed';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EMFILE') return tooManyOpen;
  if (code === 'ELOOP') return 'not a file';
  return code ?? (error as Error).message;
}
