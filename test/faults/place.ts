import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { marked, newMark, type Running, start } from '../ranks/processes.js';

const bin = resolve(import.meta.dirname, '../../bin/weft');
const root = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });

/** What a place has in the way of a disk: a folder, or a file system of its own that can be filled or break. */
export type DiskKind = 'folder' | 'small' | 'breakable';

/** Bytes of a small disk: run files of the cells fit, and it is filled in no time. */
const smallDisk = '1M';

export interface PlaceOptions {
  readonly disk?: DiskKind;
  /** Size of /dev/shm; default: no limit. */
  readonly shm?: string;
}

/**
 * Where the processes of one cell live: folders of its own for results, temporary files and /dev/shm, so that what is
 * left in them was left by this cell.
 */
export class Place implements Disposable {
  readonly mark = newMark();
  readonly folder = mkdtempSync(join(tmpdir(), 'weft-fault-'));
  readonly hold = this.#make('hold');
  readonly results = this.#make('results');
  readonly temporary = this.#make('tmp');
  readonly shm = this.#make('shm');
  readonly #mounted: string[] = [];
  readonly #started: Running[] = [];

  constructor({ disk = 'folder', shm }: PlaceOptions = {}) {
    chmodSync(this.folder, 0o777);
    if (shm !== undefined) this.#mount(this.shm, '-t', 'tmpfs', '-o', `size=${shm}`, 'tmpfs');
    if (disk === 'small') {
      this.#mount(this.results, '-t', 'tmpfs', '-o', `size=${smallDisk}`, 'tmpfs');
    } else if (disk === 'breakable') {
      const image = join(this.folder, 'disk');
      root('truncate', '-s', '8M', image);
      root('mkfs.ext4', '-q', image);
      this.#mount(this.results, '-o', 'loop,errors=remount-ro', image);
      rmSync(join(this.results, 'lost+found'), { recursive: true });
    }
  }

  get runFile(): string {
    return join(this.results, 'run.jsonl');
  }

  /** `weft` in its own mount namespace; `under` are words before the command, such as those that take rights away. */
  weft(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    under: readonly string[] = [],
  ): Running {
    const inside = 'mount --bind "$1" /dev/shm && cd "$2" && shift 2 && exec "$@"';
    const enter = ['--mount', '--propagation', 'private', 'sh', '-c', inside, 'sh'];
    const command = [...under, process.execPath, bin, ...args];
    const running = start('unshare', [...enter, this.shm, this.folder, ...command], {
      env: { ...this.mark, TMPDIR: this.temporary, ...env },
      detached: true,
      timeoutMs: 120_000,
    });
    this.#started.push(running);
    return running;
  }

  /** The environment that holds a rank in a phase; hold.mjs explains it. */
  holding(phase: string, rank: number | 'main', mode: string): NodeJS.ProcessEnv {
    return {
      NODE_OPTIONS: `--import ${new URL('hold.mjs', import.meta.url)}`,
      WEFT_TEST_HOLD: `${phase}:${rank}:${mode}`,
      WEFT_TEST_HOLD_FOLDER: this.hold,
    };
  }

  get isReached(): boolean {
    return existsSync(join(this.hold, 'reached'));
  }

  /** By how many milliseconds the wall clock moved while the process was held. */
  get clockMovedMs(): number {
    return Number(readFileSync(join(this.hold, 'clock'), 'utf8'));
  }

  goOn(): void {
    writeFileSync(join(this.hold, 'go'), '');
  }

  /** Lets the rank that takes memory begin, in a control group. */
  feed(group: string): void {
    writeFileSync(join(this.hold, 'eat.new'), group);
    renameSync(join(this.hold, 'eat.new'), join(this.hold, 'eat'));
  }

  pidOf(rank: number | 'main'): number {
    return Number(readFileSync(join(this.hold, `pid-${rank}`), 'utf8'));
  }

  /** Leaves no byte free on a small disk. */
  fillDisk(): void {
    try {
      writeFileSync(join(this.results, 'ballast'), Buffer.alloc(2 << 20));
    } catch {
      // full, as it should be
    }
  }

  /** Leaves no byte free in a /dev/shm that has a size. */
  fillShm(): void {
    try {
      writeFileSync(join(this.shm, 'ballast'), Buffer.alloc(64 << 20));
    } catch {
      // full, as it should be
    }
  }

  /** Takes the pages of a rank's shared memory from under it and its peers: the next touch of one is a bus error. */
  cutSegments(rank: number): void {
    const own = readdirSync(this.shm).filter((name) => name.includes(`-${this.pidOf(rank)}-`));
    if (own.length === 0) throw new Error(`rank ${rank} has no shared memory`);
    for (const name of own) truncateSync(join(this.shm, name));
  }

  /** As an error of the disk does: from now on every write fails, also to open files. */
  breakDisk(): void {
    root('mount', '-o', 'remount,abort', this.results);
  }

  /** Everything that the processes have left, except their results. */
  leftovers(): string[] {
    const ours = /^(run\.jsonl|run\.html|second\.jsonl|ballast|\.weft-index.*)$/;
    const list = (folder: string, skip = /^$/) =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((name) => !skip.test(name))
        .map((name) => join(folder, name));
    return [
      ...marked(this.mark).map((pid) => `process ${pid}`),
      // libfaketime has files of its own.
      ...list(this.shm, /^(ballast|(sem\.)?faketime_.*)$/),
      ...list(this.temporary),
      ...list(this.results, ours),
      ...list(this.folder, /^(hold|results|tmp|shm|disk)$/),
    ];
  }

  #make(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path);
    // Some cells run as another user.
    chmodSync(path, 0o777);
    return path;
  }

  #mount(at: string, ...how: string[]): void {
    root('mount', ...how, at);
    this.#mounted.push(at);
  }

  [Symbol.dispose](): void {
    for (const pid of marked(this.mark)) process.kill(pid, 'SIGKILL');
    for (const { child } of this.#started) child.kill('SIGKILL');
    for (const at of this.#mounted) root('umount', '-l', at);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
