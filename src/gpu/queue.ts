import { constants } from 'node:os';
import { WeftError } from '../errors.js';
import { addon, isNativeFault } from '../native/addon.js';
import type { NativeQueueJob, NativeQueueResult, NativeTask } from '../native/tasks.js';
import { threadError } from '../native/thread-fault.js';
import { gpuError } from './faults.js';

/** Elements carry 16 bytes with their tags. */
export const elementBytes = 16;
export const mostCapacity = 2 ** 24;

/** Measures the queue once. An aborted signal ends it, with the signal's reason. */
export const runQueue = (job: NativeQueueJob, signal?: AbortSignal): Promise<NativeQueueResult> =>
  runTask(() => addon().queueRun(job), signal);

/** What to do when the work took too long, and when it was asked for what cannot be. */
interface TaskHints {
  readonly tooLong: string;
  readonly impossible: string;
}

const queueHints: TaskHints = {
  tooLong: 'A producer hangs or was lost. If it is only slow, raise `timeoutMs`.',
  impossible: 'Use fewer blocks, threads or iterations.',
};

/** Starts native work, ends it with the signal, and translates what it throws. */
export async function runTask<T>(
  start: () => NativeTask<T>,
  signal?: AbortSignal,
  hints: TaskHints = queueHints,
): Promise<T> {
  signal?.throwIfAborted();
  let abort = () => {};
  try {
    const task = start();
    abort = () => task.abort();
    signal?.addEventListener('abort', abort, { once: true });
    return await task.done;
  } catch (error) {
    throw signal?.aborted ? signal.reason : taskError(error, hints);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

function taskError(error: unknown, hints: TaskHints): unknown {
  if (!isNativeFault(error)) return error;
  const { errno } = constants;
  if (/^cu[A-Z]/.test(error.operation)) return gpuError(error);
  if (error.code === errno.ECANCELED) return new WeftError('ABORTED', error.text, { cause: error });
  if (error.code === errno.ETIMEDOUT) {
    return new WeftError('TIMEOUT', error.text, { hint: hints.tooLong, cause: error });
  }
  if (error.code === errno.EINVAL) {
    return new WeftError('BAD_USAGE', error.text, { hint: hints.impossible, cause: error });
  }
  return threadError(error) ?? gpuError(error);
}
