import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { type ReadRun, readRun } from '../../src/results/read-run.js';

const bin = resolve(import.meta.dirname, '../../bin/weft');

/** The environment in which Weft does something wrong on purpose; inject-fault.mjs lists the faults. */
export const withFault = (fault: string): Record<string, string> => ({
  NODE_OPTIONS: `--import ${new URL('inject-fault.mjs', import.meta.url)}`,
  WEFT_TEST_FAULT: fault,
});

export interface Ended {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder in which `weft` runs as a user would run it. */
export class Desk implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'weft-desk-'));
  readonly #started: { exitCode: number | null; kill(signal: 'SIGKILL'): boolean }[] = [];

  async weft(line: string, env: Record<string, string> = {}): Promise<Ended> {
    const { exitCode, stdout, stderr } = await this.start(line, env);
    return { exitCode, stdout: String(stdout), stderr: String(stderr) };
  }

  /** The same under another command, such as one that takes rights away. */
  async weftUnder(command: readonly string[], line: string): Promise<Ended> {
    const [program = '', ...before] = command;
    const args = [...before, process.execPath, bin, ...line.split(' ')];
    const options = { cwd: this.folder, reject: false, timeout: 60_000 } as const;
    const { exitCode, stdout, stderr } = await execa(program, args, options);
    return { exitCode, stdout, stderr };
  }

  start(line: string, env: Record<string, string> = {}) {
    return this.run(
      line.split(' ').filter((word) => word !== ''),
      env,
    );
  }

  /** Words with blanks in them. */
  run(args: readonly string[], env: Record<string, string> = {}) {
    const child = execa(process.execPath, [bin, ...args], {
      cwd: this.folder,
      env,
      reject: false,
      timeout: 120_000,
    });
    this.#started.push(child);
    return child;
  }

  /** Resolves when the run in work has kept this many measured rows. */
  async rowsIn(count: number): Promise<void> {
    for (let rows = 0; rows < count; await sleep(50)) {
      const found = existsSync(join(this.folder, 'weft-results')) ? this.#begun() : [];
      rows = found.flatMap(({ run }) => run.rows).filter((row) => row.samples.length > 0).length;
    }
  }

  /** The run files in the results folder, oldest first. */
  runs(): ReadRun[] {
    const folder = join(this.folder, 'weft-results');
    return readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => readRun(join(folder, name)));
  }

  /** A file that has just been made may still be empty. */
  #begun(): ReadRun[] {
    try {
      return this.runs();
    } catch {
      return [];
    }
  }

  /** A test that failed leaves nothing running. */
  [Symbol.dispose](): void {
    for (const child of this.#started) if (child.exitCode === null) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The address that a command with --live prints; throws with what it said if it ends without one. */
export function liveAddress(child: ReturnType<Desk['start']>): Promise<URL> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr!.on('data', (piece) => {
      said += piece;
      const [, address] = /live at (\S+)\n/.exec(said) ?? [];
      if (address !== undefined) resolve(new URL(address));
    });
    void child.then(({ exitCode }) =>
      reject(new Error(`ended with ${exitCode} and gave no address: ${said}`)),
    );
  });
}

/** A file of /proc; empty when the process has just ended. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

export const childrenOf = (pid: number): number[] =>
  readProc(`${pid}/task/${pid}/children`).split(/\s+/).filter(Boolean).map(Number);

export const isAlive = (pid: number): boolean => readProc(`${pid}/stat`) !== '';
