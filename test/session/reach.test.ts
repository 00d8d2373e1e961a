import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { WeftError } from '../../src/errors.js';
import { isGap } from '../../src/session/probe.js';
import { describeGaps } from '../../src/session/reach.js';

const hosts = ['h0', 'h1', 'h2', 'h3'];
const gap = (from: number, to: number) => ({ from, to });

describe('who does not reach whom', () => {
  test('one direction between two hosts', () => {
    expect(describeGaps([gap(0, 2), gap(0, 2)], hosts)).toBe('h0 does not reach h2');
  });

  test('the host that every gap has in common is the one to look at', () => {
    const around = [0, 1, 3].flatMap((other) => [gap(2, other), gap(other, 2)]);
    expect(describeGaps(around, hosts)).toBe('h2 and h0, h1, h3 do not reach each other');
  });

  test('without such a host some of the pairs are named', () => {
    const all = hosts.flatMap((_, from) => [1, 2, 3].map((by) => gap(from, (from + by) % 4)));
    expect(describeGaps(all, hosts)).toMatch(/^h0 does not reach h1, .* and 8 more$/);
  });
});

describe('what a probe that failed says', () => {
  const probe = (reason: unknown) => ({ status: 'rejected', reason }) as const;
  const transfer = (code: number) =>
    new WeftError('FABRIC_FAULT', 'the transfer failed', {
      cause: Object.assign(new Error(), { operation: 'transfer', code, text: '' }),
    });

  test('nothing came in time, or the network ended it: a gap', () => {
    expect(isGap(probe(new WeftError('TIMEOUT', 'late')))).toBe(true);
    expect(isGap(probe(transfer(constants.errno.EHOSTUNREACH)))).toBe(true);
    expect(isGap({ status: 'fulfilled', value: 0 })).toBe(false);
  });

  test.each([
    ['a region that is in use', new WeftError('BUSY', 'in use')],
    ['an argument the provider refuses', transfer(constants.errno.EINVAL)],
    ['a mistake of ours', new TypeError('no such slice')],
  ])('%s is no gap', (_, reason) => {
    expect(() => isGap(probe(reason))).toThrow(reason);
  });
});
