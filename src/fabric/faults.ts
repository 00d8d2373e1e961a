import { constants } from 'node:os';
import { openFilesHint, WeftError } from '../errors.js';
import { gpuError } from '../gpu/faults.js';
import { isNativeFault } from '../native/addon.js';
import { threadError } from '../native/thread-fault.js';

/** Turns what the addon threw into the error of the fabric; anything else passes through. */
export function fabricError(error: unknown): unknown {
  if (!isNativeFault(error)) return error;
  // A plan may touch a GPU, whose error numbers are CUDA's own.
  if (/^cu[A-Z]/.test(error.operation)) return gpuError(error);
  if (error.code === constants.errno.EBADF)
    return new WeftError('CLOSED', error.text, { cause: error });
  if (error.code === constants.errno.EBUSY)
    return new WeftError('BUSY', error.text, { cause: error });
  if (error.operation === 'plan' && error.code === constants.errno.ECANCELED) {
    return new WeftError('ABORTED', error.text, { cause: error });
  }
  if (error.operation === 'plan' && error.code === constants.errno.ETIMEDOUT) {
    return new WeftError('TIMEOUT', error.text, {
      hint: 'Check that the rank is alive and its link is up. If it is only slow, raise `timeoutMs`.',
      cause: error,
    });
  }
  const { EINVAL, EALREADY } = constants.errno;
  if (error.operation === 'proxy' && (error.code === EINVAL || error.code === EALREADY)) {
    return new WeftError('BAD_USAGE', error.text, {
      hint: 'Request only transfers of the plan, and each again only after its delivery.',
      cause: error,
    });
  }
  if (error.operation === 'read') {
    return new WeftError('UNSUPPORTED', error.text, {
      hint: 'Choose another provider; `weft info` lists them.',
      cause: error,
    });
  }
  if (error.code === constants.errno.ERANGE) return new TypeError(error.text);
  const noThread = threadError(error);
  if (noThread) return noThread;
  return new WeftError('FABRIC_FAULT', `${error.operation}: ${error.text}`, {
    hint: hintFor(error.operation, error.code),
    cause: error,
  });
}

/** Calls into the addon and translates what it throws. */
export function calling<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fabricError(error);
  }
}

function hintFor(operation: string, code: number): string {
  const { errno } = constants;
  if (operation === 'fi_mr_regattr' && code === errno.ENOMEM) {
    return 'The provider could not lock the memory: raise `ulimit -l`, or use smaller sizes.';
  }
  if (code === errno.EMFILE) return openFilesHint;
  if (code === errno.EADDRINUSE) return 'Another process uses this address; try again.';
  if (code === errno.ENOSPC || code === errno.ENOMEM) {
    return 'Memory or /dev/shm is full. Check `df -h /dev/shm`, then free some space or use fewer ranks.';
  }
  return 'Run with FI_LOG_LEVEL=warn to see the log of libfabric.';
}
