import { listingOf, type Slice } from './listing.js';
import { type Batch, CutError } from './run-batches.js';
import type { FoundRun, RunFolder } from './run-folder.js';
import { reasonOf } from './run-log.js';
import type { Standing } from './wire.js';

/** A quiet connection says so this often: both ends learn when the other is gone. */
const stillHereMs = 15_000;
/** A list changes at most this often on a page. */
const listPauseMs = 250;
const retryMs = 1_000;

const eventText = (event: string, data: string, id?: string): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;

/**
 * The lines of a run from where the page left off, then those to come, then `end`. An event's id says which lines the
 * page has; `reset` says that what it has is void; `state` says that its writer seems gone, or is back.
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
  // A page takes a run for running until it is told; one that comes back may have been told.
  let said: string | undefined = lastEventId === undefined ? 'running' : undefined;
  while (!signal.aborted) {
    const { count } = log.bell;
    if (log.epoch !== epoch) {
      ({ epoch } = log);
      cursor = 0;
      said = 'running';
      yield eventText('reset', '{}');
    }
    const batch: Batch | Unread | undefined = await batches.after(cursor).catch(unread);
    const { state, problem } = log.summary();
    if (batch && 'problem' in batch) {
      await log.advance();
      // It was cut or replaced meanwhile: the new epoch has it anew.
      if (log.epoch !== epoch) continue;
      yield standingText('end', { state: 'aborted', problem: batch.problem });
      return;
    }
    if (batch) {
      cursor = batch.next;
      yield eventText('lines', batch.json, `${log.generation}:${cursor}`);
    } else if (log.ended && cursor === log.lines) {
      yield standingText('end', { state, problem });
      return;
    } else if (state !== said) {
      said = state;
      yield standingText('state', { state, problem });
    } else if (!(await log.bell.rung(count, stillHereMs, signal))) yield ': still here\n\n';
  }
}

const standingText = (event: 'state' | 'end', standing: Standing): string =>
  eventText(event, JSON.stringify(standing));

interface Unread {
  readonly problem: string;
}

/** What the system refused is named; what was read and made no sense is damaged. */
const unread = (error: Error): Unread => ({
  problem: 'code' in error || error instanceof CutError ? reasonOf(error) : 'damaged',
});

/** The line to go on with; undefined where the page has lines of another file. */
function resumeAt(generation: string, lines: number, id: string | undefined): number | undefined {
  if (id === undefined) return 0;
  const [of, count] = id.split(':');
  const line = Number(count);
  return of === generation && Number.isSafeInteger(line) && line >= 0 && line <= lines
    ? line
    : undefined;
}

/** A first reading of many files is not waited for. */
const mostWaitMs = 500;

export async function* listEvents(
  folder: RunFolder,
  slice: Slice,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`;
  await Promise.race([folder.refresh(), pause(mostWaitMs)]);
  while (!signal.aborted) {
    const { count } = folder.bell;
    yield eventText('runs', JSON.stringify(listingOf(folder, slice)));
    while (!signal.aborted && !(await folder.bell.rung(count, stillHereMs, signal))) {
      yield ': still here\n\n';
    }
    await pause(listPauseMs);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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
        try {
          const { value, done } = await generator.next();
          if (!done) {
            controller.enqueue(encoder.encode(value));
            return;
          }
        } catch (error) {
          end();
          throw error;
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
