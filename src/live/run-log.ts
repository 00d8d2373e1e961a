import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { Bell } from './bell.js';
import { better, type Glance, type GlanceHeader, glanceAt } from './run-glance.js';
import type { Headline, RunState, RunSummary } from './wire.js';

export const limits = { fileBytes: 2 ** 31, lineBytes: 2 ** 26 } as const;

const pieceBytes = 2 ** 20;

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
  /** Byte at which each line begins, and after them the byte at which the next will. */
  starts: number[] = [0];
  header: GlanceHeader | undefined;
  rows = 0;
  /** Nobody seems to write to it, though it has no footer. A row that comes all the same takes this back. */
  abandoned = false;
  modifiedMs = 0;
  ownerUid: number | undefined;
  #ended: Extract<Glance, { line: 'footer' }> | undefined;
  #headline: Headline | undefined;
  #problem: string | undefined;
  #inode = 0;
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
    this.rows = 0;
    this.abandoned = false;
    this.#ended = undefined;
    this.#headline = undefined;
    this.#problem = undefined;
    this.#size = 0;
  }

  async #read(): Promise<void> {
    const { ino, size, mtimeMs, uid } = await stat(this.path);
    this.modifiedMs = mtimeMs;
    if (ino === this.#inode && size === this.#size) return;
    if (ino !== this.#inode || size < this.#size) this.#reset();
    this.#inode = ino;
    this.#size = size;
    this.abandoned = false;
    this.ownerUid = uid;
    if (this.#problem !== undefined) return;
    if (size > limits.fileBytes) throw new Error('too large to show');
    const file = await open(this.path, 'r');
    try {
      await this.#readLines(file, size);
    } finally {
      await file.close();
    }
  }

  async #readLines(file: FileHandle, size: number): Promise<void> {
    let piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(1, size - this.starts.at(-1)!)));
    for (;;) {
      const at = this.starts.at(-1)!;
      const { bytesRead } = await file.read(piece, 0, piece.length, at);
      const taken = this.#takeLines(piece.subarray(0, bytesRead), at);
      if (at + bytesRead >= size || bytesRead === 0) return;
      if (taken > 0) continue;
      if (piece.length >= limits.lineBytes) throw new Error('not a run file: a line is too long');
      piece = Buffer.allocUnsafe(Math.min(limits.lineBytes, piece.length * 4));
    }
  }

  #takeLines(bytes: Buffer, at: number): number {
    let from = 0;
    for (let to = bytes.indexOf(0x0a); to !== -1; to = bytes.indexOf(0x0a, from)) {
      this.#take(bytes.subarray(from, to));
      from = to + 1;
      this.starts.push(at + from);
    }
    return from;
  }

  #take(line: Buffer): void {
    if (line.length === 0) return;
    const number = this.starts.length;
    let glance: Glance;
    try {
      glance = glanceAt(line);
    } catch {
      throw new Error(number === 1 ? 'not a run file' : `damaged at line ${number}`);
    }
    if ((glance.line === 'header') !== (number === 1)) throw new Error('not a run file');
    if (glance.line === 'header') {
      this.header = glance.header;
      this.generation = createHash('sha256').update(line).digest('hex').slice(0, 12);
    } else if (glance.line === 'row') {
      if (glance.tried) this.rows++;
      this.#headline = better(this.#headline, glance.headline);
    } else if (glance.line === 'footer') this.#ended = glance;
  }
}

export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'the file was removed';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return code ?? (error as Error).message;
}
