import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import { openFilesHint, WeftError } from '../../errors.js';
import type { RankExit } from './outcome.js';
import { forward, LastWords } from './output.js';
import { parseReports, reportFd } from './rank-process.js';

interface ChildOptions {
  readonly rank: number;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly prefix: boolean;
  /** Its stdout is part of the job's. */
  readonly speaks: boolean;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Our descriptor of the listening socket that rank 0 inherits. */
  readonly listenFd: number | undefined;
}

/** One rank as its parent sees it. `ended` resolves once, also when the program could not be started. */
export interface RankChild {
  readonly process: ChildProcess;
  readonly ended: Promise<Omit<RankExit, 'afterStop'>>;
  /** Says why the job ends, before the signal that ends it. */
  tell(word: string): void;
  /** How long it takes to end by itself when it gets a signal; undefined where it did not say that it does. */
  patienceMs(): number | undefined;
}

export function startRank(options: ChildOptions): RankChild {
  const { rank, prefix, speaks } = options;
  // A terminal stays a terminal for rank 0, so that it can show progress.
  const keepTerminal =
    rank === 0 && !prefix && options.stderr === undefined && process.stderr.isTTY;
  const ownStdout = speaks && options.stdout === undefined;
  const child = spawn(options.command, options.args, {
    env: options.env,
    stdio: [
      'ignore',
      ownStdout ? 'inherit' : speaks || prefix ? 'pipe' : 'ignore',
      keepTerminal ? 'inherit' : 'pipe',
      'pipe',
      ...(options.listenFd === undefined ? [] : [options.listenFd]),
    ],
  });
  // Node hands back half a child where no pipe could be made, and says so later to whoever listens.
  child.on('error', () => {});
  if (child.stdio === undefined) {
    throw new WeftError('PREFLIGHT', `rank ${rank} cannot be started: too many open files`, {
      hint: openFilesHint,
    });
  }
  const words = showOutput(child, options);
  const line = child.stdio[reportFd] as Duplex | null;
  const report = readReport(line);
  const ended = exitOf(child).then(({ code, signal, error, atMs }) => ({
    rank,
    atMs,
    pid: child.pid,
    exitCode: code,
    signal,
    lastWords: error?.message ?? words.tail(),
    ...report().exit,
  }));
  const tell = (word: string) => void line?.write(word);
  return { process: child, ended, tell, patienceMs: () => report().patienceMs };
}

/** What a rank that does not speak prints on stdout is shown beside its errors, if at all. */
function showOutput(
  child: ChildProcess,
  { rank, prefix, speaks, stdout, stderr }: ChildOptions,
): LastWords {
  const words = new LastWords();
  const label = prefix ? `[rank ${rank}] ` : undefined;
  const errors = stderr ?? process.stderr;
  if (child.stderr) forward(child.stderr, { to: errors, prefix: label, words });
  if (child.stdout) {
    const to = speaks ? (stdout ?? process.stdout) : errors;
    forward(child.stdout, { to, prefix: speaks ? undefined : label, words: undefined });
  }
  return words;
}

interface ChildEnd {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly error: Error | undefined;
  readonly atMs: number;
}

/** How long output may follow the exit: a grandchild can hold the pipes open for ever. */
const drainMs = 200;

const exitOf = (child: ChildProcess): Promise<ChildEnd> =>
  new Promise((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined)
        resolve({ code: undefined, signal: undefined, error, atMs: performance.now() });
    });
    child.on('exit', (code, signal) => {
      const atMs = performance.now();
      const end = { code: code ?? undefined, signal: signal ?? undefined, error: undefined, atMs };
      const timer = setTimeout(() => resolve(end), drainMs);
      child.on('close', () => {
        clearTimeout(timer);
        resolve(end);
      });
    });
  });

interface RankSays {
  readonly exit: Pick<RankExit, 'report' | 'reportAtMs' | 'announced'>;
  readonly patienceMs: number | undefined;
}

/** Collects what the rank says of itself; the result is what it has said so far. */
function readReport(pipe: Readable | null): () => RankSays {
  let text = '';
  let failedAtMs: number | undefined;
  pipe?.setEncoding('utf8');
  pipe?.on('data', (chunk: string) => {
    if (chunk.includes('"message"')) failedAtMs ??= performance.now();
    text = (text + chunk).slice(0, 8192);
  });
  pipe?.on('error', () => {});
  return () => {
    const reports = parseReports(text);
    const failure = reports.find((one) => 'message' in one);
    const exit = reports.find((one) => 'exitCode' in one);
    return {
      exit: {
        report: failure?.message,
        reportAtMs: failure && failedAtMs,
        announced: exit?.exitCode,
      },
      patienceMs: reports.find((one) => 'patienceMs' in one)?.patienceMs,
    };
  };
}
