import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program = (name: string): string =>
  fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url));

if (!existsSync(new URL('../../dist/world/index.js', import.meta.url))) {
  throw new Error('the programs of these tests use dist/: npm run build');
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** The full path of a command, or undefined. */
export function which(command: string): string | undefined {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']) {
    const path = join(folder, command);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not here
    }
  }
  return undefined;
}

/** What is missing of these commands, as a reason to skip; undefined when all are there. */
export function missing(commands: Record<string, string>): string | undefined {
  const absent = Object.entries(commands).filter(([command]) => which(command) === undefined);
  if (absent.length === 0) return undefined;
  const packages = [...new Set(absent.map(([, name]) => name))].join(' ');
  return `${absent.map(([command]) => command).join(', ')} not found: apt-get install ${packages}`;
}

/** A variable that marks every process of a test, so that none is missed when we count who is left. */
export const newMark = () => ({ WEFT_TEST_MARK: randomUUID() });

/** Pids of the living processes whose environment holds the mark. */
export function marked({ WEFT_TEST_MARK }: ReturnType<typeof newMark>): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // A zombie's environment is empty: it is dead already.
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(WEFT_TEST_MARK);
      } catch {
        return false;
      }
    });
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when stdout holds a match, rejects if the process ends before. */
  says(pattern: RegExp): Promise<void>;
  /** Stdout so far. */
  said(): string;
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  /** A process group of its own, as a shell gives a job. */
  detached?: boolean;
  /** Kills it, so that a hang is a failure and not a wait. */
  timeoutMs?: number;
}

/** Launcher variables of the machine the tests run on must not leak into what they start. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(WEFT_(?!LIBFABRIC)|SLURM|OMPI|PMI|RANK$|WORLD_SIZE$)/.test(name),
  ),
);

export function start(command: string, args: string[], options: RunOptions = {}): Running {
  const child = spawn(command, args, {
    env: { ...inherited, ...options.env },
    detached: options.detached ?? false,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { timeoutMs = 30_000 } = options;
  let stdout = '';
  let stderr = '';
  const timer = setTimeout(() => {
    stderr += `\n(the test killed ${command} after ${timeoutMs / 1000} s)`;
    child.kill('SIGKILL');
  }, timeoutMs);
  child.stdout.on('data', (bytes) => {
    stdout += bytes;
  });
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr });
    });
  });
  const says = async (pattern: RegExp) => {
    while (!pattern.test(stdout)) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`ended before it said ${pattern}: ${stdout}${stderr}`);
      }
      await pause(10);
    }
  };
  return { child, finished, says, said: () => stdout };
}

export const run = (command: string, args: string[], options?: RunOptions): Promise<Finished> =>
  start(command, args, options).finished;

/** The JSON lines that the exchange program printed, by rank. */
export const exchanged = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.rank - b.rank);

/** What each of `size` ranks must have seen. */
export const expectedExchange = (size: number) =>
  Array.from({ length: size }, (_, rank) => ({
    rank,
    size,
    sum: Array.from({ length: size }, (_, r) => r * r).reduce((a, b) => a + b, 0),
    bytes: Array.from({ length: size }, (_, r) => r),
    large: Array.from({ length: size }, (_, r) => r + 0.5),
    next: `${(rank + 1) % size}`,
    said: 'hello',
    ...(rank === 0 ? { gathered: Array.from({ length: size }, (_, r) => r * 10) } : {}),
  }));

/**
 * Debian's torchrun 1.13 on Python 3.11 cannot parse its own defaults of -r and -t; by default it looks
 * only every five seconds whether its ranks have ended.
 */
export const torchrunArgs = ['-r', '9:1', '-t', '9:1', '--monitor_interval', '0.1', '--no_python'];

/** The first import of PyTorch on a machine may read hundreds of megabytes from a slow disk. */
export const torchrunTimeoutMs = 150_000;

/** What `--standalone` means, but on a free port: 1.13's own choice is always 29400, which another may hold. */
export const torchrunAlone = ['--rdzv_backend=c10d', '--rdzv_endpoint=localhost:0'];
