import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, WeftError } from '../errors.js';
import { formatBytesRounded } from '../measure/units.js';
import { withKeptSamples } from './kept-samples.js';
import { limits, linesOf, tooLongText } from './run-lines.js';
import {
  footerSchema,
  headerSchema,
  type Row,
  type RunFooter,
  type RunHeader,
  rowSchema,
} from './schema.js';

export const resultsFolder = 'weft-results';

interface RunFileOptions {
  /** Default: a new file in `folder`, named after the run's id. */
  readonly path?: string | undefined;
  readonly folder?: string;
  /** Where the lines go if the file is deleted or replaced while the run is on. */
  readonly rescueFolder?: string;
  /** For tests of full disks. */
  readonly disk?: Partial<Disk>;
}

interface Disk {
  write(fd: number, bytes: Uint8Array, offset: number): number;
  flush(fd: number): void;
  truncate(fd: number, length: number): void;
}

const realDisk: Disk = {
  write: (fd, bytes, offset) => writeSync(fd, bytes, offset),
  flush: fdatasyncSync,
  truncate: ftruncateSync,
};

/**
 * A run on disk, line by line: a header, rows, a footer; each line says which it is. Every line is
 * on disk when its call returns, so a crash loses at most the rows in flight. An existing file is
 * never written to.
 */
export class RunFile implements Disposable {
  readonly #disk: Disk;
  readonly #rescueFolder: string;
  #path: string;
  #fd: number;
  #length = 0;
  #rows = 0;
  #closed = false;

  constructor(header: RunHeader, options: RunFileOptions = {}) {
    const line = lineOf('header', headerSchema.parse(header));
    this.#disk = { ...realDisk, ...options.disk };
    const { fd, path } = openNew(header.id, options);
    this.#fd = fd;
    this.#path = path;
    this.#rescueFolder = options.rescueFolder ?? tmpdir();
    try {
      this.#append(line, 'the header');
    } catch (error) {
      this.close();
      // An empty file is no run.
      rmSync(path, { force: true });
      throw error;
    }
  }

  get path(): string {
    return this.#path;
  }

  /** Rows that were measured together are written together: a flush takes longer than a row of many. */
  append(...rows: readonly Row[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const size = first.bytes === null ? '' : ` at ${first.bytes} bytes`;
    const lines = rows.map((row) => lineOf('row', rowSchema.parse(withKeptSamples(row))));
    this.#append(lines.join(''), `the row ${first.column}${size}`);
    this.#rows += rows.length;
  }

  /** The rows so far, from the disk. */
  *rows(): Generator<Row> {
    for (const { bytes } of linesOf(this.#fd, this.#length)) {
      const { line, ...row } = JSON.parse(bytes.toString());
      if (line === 'row') yield rowSchema.parse(row);
    }
  }

  /** Writes the footer and closes. A file without one reads as `aborted`. */
  finish(footer: RunFooter): void {
    this.#append(lineOf('footer', footerSchema.parse(footer)), 'the footer');
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #append(line: string, what: string): void {
    if (this.#closed) throw new WeftError('CLOSED', `${this.path} is closed`);
    const bytes = Buffer.from(line);
    try {
      for (let done = 0; done < bytes.length; ) done += this.#disk.write(this.#fd, bytes, done);
      this.#disk.flush(this.#fd);
    } catch (cause) {
      this.#takeBack();
      throw this.#writeError(what, bytes.length, cause);
    }
    this.#length += bytes.length;
    if (!this.#isThere()) throw this.#rescue();
  }

  /**
   * Whoever deletes or replaces the file leaves us writing to one that nobody finds. Inode numbers are not stable
   * everywhere: a file that has another number and every byte that we wrote is taken for ours.
   */
  #isThere(): boolean {
    const ours = fstatSync(this.#fd);
    const found = statSync(this.path, { throwIfNoEntry: false });
    if (found === undefined || ours.nlink === 0) return false;
    return (found.dev === ours.dev && found.ino === ours.ino) || found.size === this.#length;
  }

  /** Goes on in another file, with every line so far. */
  #rescue(): WeftError {
    const what = `${this.path} was deleted or replaced while the run was on`;
    const path = resolve(this.#rescueFolder, basename(this.path));
    try {
      const fd = openSync(path, 'ax+', 0o644);
      const lost = this.#fd;
      this.#fd = fd;
      try {
        this.#copyFrom(lost);
      } finally {
        closeSync(lost);
      }
    } catch (cause) {
      const hint = `Saving the rows to ${path} failed as well: ${messageOf(cause)}.`;
      return new WeftError('BAD_FILE', what, { hint, cause });
    }
    this.#path = path;
    return new WeftError('BAD_FILE', `${what}; its rows are saved in ${path}`, {
      hint: 'Keep the results folder until the run has ended.',
    });
  }

  #copyFrom(fd: number): void {
    const piece = Buffer.alloc(Math.min(this.#length, 2 ** 20));
    for (let at = 0; at < this.#length; ) {
      const bytes = piece.subarray(0, readSync(fd, piece, 0, piece.length, at));
      if (bytes.length === 0) break;
      for (let done = 0; done < bytes.length; ) done += this.#disk.write(this.#fd, bytes, done);
      at += bytes.length;
    }
    this.#disk.flush(this.#fd);
  }

  /** Half a line would make the file unreadable from there on. */
  #takeBack(): void {
    try {
      this.#disk.truncate(this.#fd, this.#length);
    } catch {
      // Readers forgive a torn last line, and the error of the write says more than this one.
    }
  }

  #writeError(what: string, bytes: number, cause: unknown): WeftError {
    const full = codeOf(cause) === 'ENOSPC' || codeOf(cause) === 'EDQUOT';
    const why = full ? 'the disk is full' : messageOf(cause);
    const kept = `${this.#rows} ${this.#rows === 1 ? 'row before it is' : 'rows before it are'} kept`;
    return new WeftError(
      'BAD_FILE',
      `${what} could not be written to ${this.path}: ${why}; ${kept}`,
      {
        hint: full
          ? `Free at least ${formatBytesRounded(bytes)}B there, or choose another path with \`out\`.`
          : 'Choose another path with `out`.',
        cause,
      },
    );
  }
}

/** Throws rather than return what no reader takes. */
function lineOf(line: 'header' | 'row' | 'footer', content: object): string {
  const text = `${JSON.stringify({ line, ...content })}\n`;
  if (Buffer.byteLength(text) <= limits.lineBytes) return text;
  throw new WeftError('BAD_FILE', `the ${line} is not written: its line would be ${tooLongText}`);
}

const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException | null)?.code;

function openNew(id: string, { path, folder = resultsFolder }: RunFileOptions) {
  const asked = path ?? join(folder, `${id}.jsonl`);
  try {
    mkdirSync(dirname(asked), { recursive: true });
  } catch (cause) {
    // Here "exists" means that a file stands where a folder should.
    const why = codeOf(cause) === 'EEXIST' ? 'ENOTDIR' : codeOf(cause);
    throw openError(asked, why, cause);
  }
  try {
    return { fd: openSync(asked, 'ax+', 0o644), path: asked };
  } catch (cause) {
    throw openError(asked, codeOf(cause), cause);
  }
}

function openError(path: string, code: string | undefined, cause: unknown): WeftError {
  const reasons: Record<string, string> = {
    EEXIST: 'it exists, and results are never overwritten',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOTDIR: 'part of the path is a file',
    ENOSPC: 'the disk is full',
  };
  const why = reasons[code ?? ''] ?? messageOf(cause);
  return new WeftError('BAD_USAGE', `cannot create ${path}: ${why}`, {
    hint: 'Name a new file in a writable folder with `out`.',
    cause,
  });
}
