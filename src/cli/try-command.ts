import { spawn } from 'node:child_process';
import type { TryOutcome } from '../analysis/isolate/search.js';
import { WeftError } from '../errors.js';
import type { RecordedTry } from '../results/formats/isolation.js';
import { exitCode } from './output/failure.js';

const keptOutput = 2000;
/** Between SIGTERM and SIGKILL. */
const graceMs = 5000;

/** Runs a command in a process group of its own. One that does not end in time is ended, and has hung. */
export function tryCommand(
  [file = '', ...args]: readonly string[],
  nodes: readonly string[],
  timeoutMs: number,
  ownGate: boolean,
): Promise<RecordedTry> {
  const started = performance.now();
  return new Promise((done, fail) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    let hung = false;
    const end = (signal: NodeJS.Signals) => {
      try {
        process.kill(-child.pid!, signal);
      } catch {
        // it has just ended
      }
    };
    let grace: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => {
      hung = true;
      end('SIGTERM');
      grace = setTimeout(() => end('SIGKILL'), graceMs);
    }, timeoutMs);
    const interrupt = (signal: NodeJS.Signals) => {
      end(signal);
      setTimeout(() => process.exit(exitCode.failed), 100);
    };
    process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        output = (output + piece).slice(-keptOutput);
      });
    }
    const release = () => {
      clearTimeout(timer);
      clearTimeout(grace);
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    };
    child.once('error', (cause: NodeJS.ErrnoException) => {
      release();
      const why = cause.code === 'ENOENT' ? 'no such command' : cause.message;
      fail(new WeftError('BAD_USAGE', `${file}: ${why}`, { cause }));
    });
    child.once('exit', (code, signal) => {
      // What it started elsewhere may hold the pipes: they are read a moment longer, but not for ever.
      const seconds = Number(((performance.now() - started) / 1000).toFixed(2));
      setTimeout(() => {
        release();
        end('SIGKILL');
        child.stdout.destroy();
        child.stderr.destroy();
        const outcome = hung ? 'hung' : outcomeOf(code, ownGate);
        done({ nodes, outcome, exitCode: code, signal, seconds, output: output.trim() });
      }, 50);
    });
  });
}

/** The gate says by its exit code that it could not run; other commands pass or fail. */
function outcomeOf(code: number | null, ownGate: boolean): TryOutcome {
  if (code === exitCode.ok) return 'passed';
  const couldNot: readonly (number | null)[] = [exitCode.usage, exitCode.nothing];
  return ownGate && couldNot.includes(code) ? 'unresolved' : 'failed';
}
