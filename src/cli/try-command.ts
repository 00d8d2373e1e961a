import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TryOutcome } from '../analysis/isolate/search.js';
import { WeftError } from '../errors.js';
import type { RecordedTry } from '../results/formats/isolation.js';
import { exitCode } from './output/failure.js';

const keptOutput = 2000;
/** Between SIGTERM and SIGKILL. */
const graceMs = 5000;
/** What a command started elsewhere may hold its pipes: they are read so much longer, but not for ever. */
const drainMs = 50;

/**
 * Runs a command in a process group of its own. One that does not end in time is ended, and has hung. A signal to this
 * process ends it, too, and then rejects with ABORTED.
 */
export async function tryCommand(
  command: readonly string[],
  nodes: readonly string[],
  timeoutMs: number,
  ownGate: boolean,
): Promise<RecordedTry> {
  const startedMs = performance.now();
  const { child, output } = start(command);
  using ending = new Ending(child, timeoutMs);
  const [code, signal] = await exitOf(child, command);
  const seconds = Number(((performance.now() - startedMs) / 1000).toFixed(2));
  await sleep(drainMs);
  signalGroup(child, 'SIGKILL');
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (ending.stoppedBy) throw new WeftError('ABORTED', `stopped by ${ending.stoppedBy}`);
  const outcome = ending.hung ? 'hung' : outcomeOf(code, ownGate);
  return { nodes, outcome, exitCode: code, signal, seconds, output: output().trim() };
}

function start([file = '', ...args]: readonly string[]) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output = (output + piece).slice(-keptOutput);
    });
  }
  return { child, output: () => output };
}

type Exit = [code: number | null, signal: NodeJS.Signals | null];

async function exitOf(child: ChildProcess, [file]: readonly string[]): Promise<Exit> {
  try {
    return (await once(child, 'exit')) as Exit;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such command' : message;
    throw new WeftError('BAD_USAGE', `${file}: ${why}`, { cause });
  }
}

/** Ends a child that takes too long, or when this process is told to end: first politely, then by force. */
class Ending implements Disposable {
  readonly #child: ChildProcess;
  readonly #timer: NodeJS.Timeout;
  #grace: NodeJS.Timeout | undefined;
  hung = false;
  stoppedBy: NodeJS.Signals | undefined;

  constructor(child: ChildProcess, timeoutMs: number) {
    this.#child = child;
    this.#timer = setTimeout(() => {
      this.hung = true;
      this.#end();
    }, timeoutMs);
    process.on('SIGINT', this.#stop).on('SIGTERM', this.#stop);
  }

  readonly #stop = (signal: NodeJS.Signals) => {
    this.stoppedBy = signal;
    this.#end();
  };

  /** Always with SIGTERM: srun only prints its status on the first SIGINT. */
  #end(): void {
    signalGroup(this.#child, 'SIGTERM');
    this.#grace ??= setTimeout(() => signalGroup(this.#child, 'SIGKILL'), graceMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#grace);
    process.off('SIGINT', this.#stop).off('SIGTERM', this.#stop);
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // it has just ended
  }
}

/** The gate says by its exit code that it could not run; other commands pass or fail. */
function outcomeOf(code: number | null, ownGate: boolean): TryOutcome {
  if (code === exitCode.ok) return 'passed';
  const couldNot: readonly (number | null)[] = [exitCode.usage, exitCode.nothing];
  return ownGate && couldNot.includes(code) ? 'unresolved' : 'failed';
}
