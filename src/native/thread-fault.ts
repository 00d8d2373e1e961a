import { constants } from 'node:os';
import { WeftError } from '../errors.js';
import type { NativeFault } from './addon.js';

/** Where the limit on threads was reached; undefined for any other fault. */
export function threadError(fault: NativeFault): WeftError | undefined {
  if (fault.operation !== 'task' || fault.code !== constants.errno.EAGAIN) return undefined;
  return new WeftError('UNSUPPORTED', `a thread could not be made: ${fault.text}`, {
    hint: 'Ask for fewer (`grid`, `producers`, `ranks`), or raise the limit on processes (ulimit -u).',
    cause: fault,
  });
}
