import { WeftError } from '../errors.js';
import type { NativeJob } from '../native/fabric.js';
import type { NativeQueueJob } from '../native/tasks.js';

/**
 * Tests only: `WEFT_TEST_FAULT=flip:RANK:OFFSET` changes a byte of that rank's target buffer after each run of a plan,
 * `drop:RANK` lets that rank's writes carry their immediates but no data. Results must not survive either.
 */
export function sabotageFromEnvironment(
  rank: number,
  env: NodeJS.ProcessEnv = process.env,
): NativeJob['sabotage'] {
  const asked = env.WEFT_TEST_FAULT;
  if (!asked) return undefined;
  const match = /^(flip|drop):(\d+)(?::(\d+))?$/.exec(asked);
  if (!match) throw new WeftError('BAD_USAGE', `WEFT_TEST_FAULT=${asked} is not understood`);
  const [, kind, where, offset] = match;
  if (Number(where) !== rank) return undefined;
  return { kind: kind as 'flip' | 'drop', offset: Number(offset ?? 0) };
}

/** Tests only: `WEFT_TEST_FAULT=drop-element:N`, or duplicate or flip: what producer 0 of a queue does wrong. */
export function elementFaultFromEnvironment(
  env: NodeJS.ProcessEnv = process.env,
): NativeQueueJob['fault'] {
  const match = /^(drop|duplicate|flip)-element:([1-9]\d*)$/.exec(env.WEFT_TEST_FAULT ?? '');
  return match
    ? { kind: match[1] as 'drop' | 'duplicate' | 'flip', at: Number(match[2]) }
    : undefined;
}
