import { spawn } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readRun } from '../results/read-run.js';
import type { Run } from '../results/schema.js';
import { exitCode } from './output/failure.js';
import { ownCommand } from './own-command.js';
import { shellWords } from './shell-words.js';

export type Side = 'a' | 'b';

/** What makes one side different: variables of its environment and options of the benchmark. */
export interface Variant {
  readonly env: Readonly<Record<string, string>>;
  readonly words: readonly string[];
}

const assignment = /^[A-Z_][A-Z0-9_]*=/;

/** `FI_LOG_LEVEL=warn --chunk 256K`; an empty text changes nothing. */
export function parseVariant(text: string): Variant {
  const words = shellWords(text);
  const assigned = words.filter((word) => assignment.test(word));
  const pairs = assigned.map((word) => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return { env: Object.fromEntries(pairs), words: words.filter((word) => !assignment.test(word)) };
}

export interface Contest {
  readonly variants: Readonly<Record<Side, Variant>>;
  /** A benchmark and its options. */
  readonly command: readonly string[];
  /** Words in front of each `weft`, such as `srun -n 4`. */
  readonly launch: readonly string[];
  readonly folder: string;
  /** Runs as they are compared, where the sides name the same rows differently; default: as they are. */
  compareAs?(run: Run): Run;
}

interface Turn {
  readonly side: Side;
  readonly round: number;
}

/** A turn that left no finished run. */
export interface FailedTurn extends Turn {
  readonly code: number | null;
  readonly words: string;
}

export const sideFolder = ({ folder }: Contest, side: Side): string => join(folder, side);

/** What the first signal asks of a turn, and what the second. */
export interface Stop {
  readonly soon: AbortSignal;
  readonly atOnce: AbortSignal;
}

/** Runs one side once. A run that did not come to its end is kept under another name, which comparisons pass over. */
export async function takeTurn(
  contest: Contest,
  turn: Turn,
  stop: Stop,
): Promise<Run | FailedTurn> {
  const name = `${String(turn.round).padStart(2, '0')}.jsonl`;
  const out = resolve(sideFolder(contest, turn.side), name);
  if (stop.soon.aborted) return { ...turn, code: null, words: 'not started' };
  const ended = await runCommand(commandOf(contest, turn.side, out), contest, turn, stop);
  try {
    const { run, damage } = readRun(out);
    // Rows that failed are part of the comparison.
    if (!damage && run.outcome !== 'aborted') return run;
  } catch {
    // What the command said is the better reason.
  }
  if (existsSync(out)) renameSync(out, `${out}.failed`);
  const { code, signal, words } = ended;
  const how = signal === null ? `exit code ${code}` : `killed by ${signal}`;
  return { ...turn, code, words: words.trim() || how };
}

/** A launcher may start ranks elsewhere without this environment: it gets the variables as words. */
function commandOf({ variants, command, launch }: Contest, side: Side, out: string): string[] {
  const { env, words } = variants[side];
  const weft = ownCommand();
  const own = [...command, ...words, '--out', out, '--quiet'];
  const [launcher, ...rest] = launch;
  if (launcher === undefined) return [...weft, ...own];
  if (launcher === 'weft') return [...weft, ...rest, 'weft', ...own];
  const assigned = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [...launch, ...(assigned.length === 0 ? [] : ['env', ...assigned]), ...weft, ...own];
}

const keptWords = 2_000;
/** A child that has not ended so long after SIGTERM is killed. */
const graceMs = 5_000;

interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly words: string;
}

function runCommand(
  [file = '', ...args]: readonly string[],
  { variants }: Contest,
  { side }: Turn,
  { soon, atOnce }: Stop,
): Promise<CommandEnd> {
  return new Promise((done) => {
    const env = { ...process.env, ...variants[side].env };
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
    let words = '';
    let grace: NodeJS.Timeout | undefined;
    const kill = () => {
      child.kill('SIGKILL');
      // What it started may keep the pipe open.
      child.stderr.destroy();
    };
    const end = () => {
      child.kill('SIGTERM');
      grace = setTimeout(kill, graceMs);
    };
    soon.addEventListener('abort', end);
    atOnce.addEventListener('abort', kill);
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      words = (words + piece).slice(-keptWords);
    });
    const finish = (ended: CommandEnd) => {
      clearTimeout(grace);
      soon.removeEventListener('abort', end);
      atOnce.removeEventListener('abort', kill);
      done(ended);
    };
    child.once('error', ({ message }) => {
      const said = `${file} cannot be started: ${message}`;
      finish({ code: exitCode.usage, signal: null, words: said });
    });
    child.once('close', (code, signal) => finish({ code, signal, words }));
  });
}
