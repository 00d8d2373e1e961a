import type { Batch } from './run-batches.js';
import type { FoundRun, RunFolder } from './run-folder.js';
import type { End, Listing } from './wire.js';

/** A quiet connection says so this often: both ends learn when the other is gone. */
const stillHereMs = 15_000;
/** A list changes at most this often on a page. */
const listPauseMs = 250;
const retryMs = 1_000;

const eventText = (event: string, data: string, id?: string): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;

/**
 * The lines of a run from where the page left off, then those to come, then `end`. An event's id says which lines the
 * page has; `reset` says that what it has is void.
 */
export async function* runEvents(
  { log, batches }: FoundRun,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`;
  await log.advance();
  let { epoch } = log;
  const resumed = resumeAt(log.generation, log.lines, lastEventId);
  if (resumed === undefined) yield eventText('reset', '{}');
  let cursor = resumed ?? 0;
  while (!signal.aborted) {
    const { count } = log.bell;
    if (log.epoch !== epoch) {
      ({ epoch } = log);
      cursor = 0;
      yield eventText('reset', '{}');
    }
    const batch: Batch | null | undefined = await batches.after(cursor).catch(() => null);
    // Damaged or cut where it was read again: the page learns by the state.
    if (batch === null && log.epoch === epoch) {
      yield eventText(
        'end',
        JSON.stringify({ state: 'aborted', problem: 'damaged' } satisfies End),
      );
      return;
    }
    if (batch) {
      cursor = batch.next;
      yield eventText('lines', batch.json, `${log.generation}:${cursor}`);
    } else if (log.ended && cursor === log.lines) {
      const { state, problem } = log.summary();
      yield eventText('end', JSON.stringify({ state, problem } satisfies End));
      return;
    } else if (!(await log.bell.rung(count, stillHereMs, signal))) yield ': still here\n\n';
  }
}

/** The line to go on with; undefined where the page has lines of another file. */
function resumeAt(generation: string, lines: number, id: string | undefined): number | undefined {
  if (id === undefined) return 0;
  const [of, count] = id.split(':');
  const line = Number(count);
  return of === generation && Number.isSafeInteger(line) && line >= 0 && line <= lines
    ? line
    : undefined;
}

/** All runs, and all again when something changed. */
export async function* listEvents(folder: RunFolder, signal: AbortSignal): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`;
  await folder.refresh();
  while (!signal.aborted) {
    const { count } = folder.bell;
    yield eventText('runs', listJson(folder));
    while (!signal.aborted && !(await folder.bell.rung(count, stillHereMs, signal))) {
      yield ': still here\n\n';
    }
    await new Promise((resolve) => setTimeout(resolve, listPauseMs));
  }
}

export const listJson = (folder: RunFolder): string =>
  JSON.stringify({
    folder: folder.path,
    problem: folder.problem,
    runs: folder.summaries(),
  } satisfies Listing);

/**
 * Asked for piece by piece, as fast as the viewer takes them and no faster: a slow one holds one piece. `begin` is called
 * when the first is asked for, which for a HEAD request is never, and what it returns when the viewer is gone.
 */
export function streamOf(
  events: (signal: AbortSignal) => AsyncGenerator<string>,
  begin: () => () => void,
  stop: AbortSignal,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const generator = events(AbortSignal.any([gone.signal, stop]));
  const encoder = new TextEncoder();
  let end: (() => void) | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        end ??= begin();
        const { value, done } = await generator.next();
        if (!done) {
          controller.enqueue(encoder.encode(value));
          return;
        }
        end();
        controller.close();
      },
      cancel() {
        gone.abort();
        end?.();
      },
    },
    { highWaterMark: 0 },
  );
}
