import {
  isWeftError,
  messageOf,
  openFilesHint,
  openFilesOnHostHint,
  WeftError,
} from '../../errors.js';
import { wrap } from '../../results/formats/text.js';
import { withFlags } from './flags.js';
import { terminalOf } from './terminal.js';

export const exitCode = { ok: 0, failed: 1, usage: 2, nothing: 3, verdict: 4 } as const;

/** What went wrong and what to do; causes and stacks only when asked for. */
export function describeFailure(error: unknown, verbose: boolean): string {
  const message = `weft: ${messageOf(error)}`;
  const hint = hintOfSystem(error) ?? (isWeftError(error) ? error.hint : undefined);
  const lines = [message, ...(hint ? [hint] : [])]
    .map((text) => withFlags(text))
    .flatMap(forTerminal);
  if (verbose && error instanceof Error) {
    lines.push(error.stack ?? '');
    for (let cause = error.cause; cause !== undefined; ) {
      lines.push(
        `caused by: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`,
      );
      cause = cause instanceof Error ? cause.cause : undefined;
    }
  }
  return lines.join('\n');
}

/** Something the user should know that does not stop the command. */
export const describeWarning = (text: string): string =>
  forTerminal(withFlags(`weft: warning: ${text}`)).join('\n');

const systemHints: Readonly<Record<string, string>> = {
  EMFILE: openFilesHint,
  ENFILE: openFilesOnHostHint,
};

/** Node's own errors have no hints. Whoever wraps one does not know why it came: the hint of the cause is the better one. */
function hintOfSystem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  return systemHints[code] ?? hintOfSystem(error.cause);
}

/** A terminal would break words; files and pipes get each message on one line. */
export const forTerminal = (text: string): string[] =>
  process.stderr.isTTY
    ? text
        .trimEnd()
        .split('\n')
        .flatMap((line) => wrap(line, terminalOf(process.stderr).width))
    : [text.trimEnd()];

const usageCodes = new Set(['BAD_USAGE', 'LAUNCHER_CONFLICT']);
const nothingCodes = new Set([
  'ADDON_MISSING',
  'GPU_DRIVER_TOO_OLD',
  'LIBFABRIC_NOT_FOUND',
  'LIBFABRIC_TOO_OLD',
  'NO_GPU',
  'NO_PROVIDER',
]);

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof WeftError)) return exitCode.failed;
  if (usageCodes.has(error.code)) return exitCode.usage;
  return nothingCodes.has(error.code) ? exitCode.nothing : exitCode.failed;
}
