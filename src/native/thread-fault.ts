import { constants } from 'node:os';
import { WeftError } from '../errors.js';
import type { NativeFault } from './addon.js';

/** Where the limit on threads was reached; undefined for any other fault. */
export function threadError(fault: NativeFault): WeftError | undefined {
  if (fault.operation !== 'task' || fault.code !== constants.errno.EAGAIN) return undefined;
  return new WeftError('UNSUPPORTED', `cannot create a thread: ${fault.text}`, {
    hint: 'Use fewer threads (`grid`, `producers`) or `ranks`, or raise the process limit (ulimit -u).',
    cause: fault,
  });
}
