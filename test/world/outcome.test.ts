import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { conclude } from '../../src/cli/in-ranks.js';
import { shareCores } from '../../src/topology/place.js';
import { describeExit, firstFailure, type RankExit } from '../../src/world/launch/outcome.js';
import { forward, LastWords } from '../../src/world/launch/output.js';

const exit = (rank: number, how: Partial<RankExit> = {}): RankExit => ({
  rank,
  pid: 1,
  exitCode: 0,
  signal: undefined,
  atMs: 0,
  lastWords: '',
  report: undefined,
  reportAtMs: undefined,
  afterStop: false,
  ...how,
});
const killed = { exitCode: undefined, signal: 'SIGKILL' } as const;

describe('the first failure', () => {
  test('is nobody when all went well', () => {
    expect(firstFailure([exit(0), exit(1)])).toBeUndefined();
  });

  test('is the rank that reported itself, even if others exited before', () => {
    const said = { report: 'boom', reportAtMs: 90 };
    const exits = [
      exit(0, { exitCode: 1, atMs: 100 }),
      exit(2, { exitCode: 1, atMs: 200, afterStop: true, ...said }),
    ];
    expect(firstFailure(exits)?.rank).toBe(2);
  });

  test('is the rank that exited, not one that reported what followed', () => {
    const said = { report: 'a transfer failed', reportAtMs: 150 };
    const exits = [
      exit(2, { exitCode: 1, atMs: 160, ...said }),
      exit(1, { exitCode: 42, atMs: 90 }),
    ];
    expect(firstFailure(exits)?.rank).toBe(1);
  });

  test('is the killed rank, not the one that noticed', () => {
    expect(firstFailure([exit(0, { exitCode: 1 }), exit(3, killed)])?.rank).toBe(3);
  });

  test('is the rank that somebody killed, however late its end is seen', () => {
    const said = { report: 'a transfer failed', reportAtMs: 90 };
    const exits = [exit(1, { exitCode: 1, atMs: 100, ...said }), exit(3, { ...killed, atMs: 900 })];
    expect(firstFailure(exits)?.rank).toBe(3);
  });

  test('is the rank that somebody killed, not one that noticed and was ended by the stop', () => {
    const said = { report: 'a transfer failed', reportAtMs: 90 };
    const ended = { exitCode: undefined, signal: 'SIGTERM', afterStop: true } as const;
    const exits = [exit(0, { ...ended, atMs: 210, ...said }), exit(2, { ...killed, atMs: 95 })];
    expect(firstFailure(exits)?.rank).toBe(2);
  });

  test('is not a rank that was ended by the stop', () => {
    const exits = [exit(0, { ...killed, afterStop: true }), exit(1, { exitCode: 7 })];
    expect(firstFailure(exits)?.rank).toBe(1);
  });

  test('says how and why', () => {
    expect(describeExit(exit(3, killed))).toBe('rank 3 was killed by SIGKILL');
    expect(describeExit(exit(1, { exitCode: 2, lastWords: 'no' }))).toBe(
      'rank 1 exited with code 2: no',
    );
  });
});

test('a rank that SIGBUS killed is explained by /dev/shm', () => {
  const text = describeExit(exit(2, { exitCode: undefined, signal: 'SIGBUS' }));
  expect(text).toMatch(/^rank 2 was killed by SIGBUS\n\/dev\/shm is probably full.*df -h/);
});

describe('output', () => {
  test('is prefixed line by line, also the last without an end', async () => {
    const from = new PassThrough();
    const to = new PassThrough();
    const words = new LastWords();
    forward(from, { to, prefix: '[1] ', words });
    from.write('on');
    from.write('e\ntwo\n\nth');
    from.end('ree');
    setTimeout(() => to.end(), 20);
    expect(await text(to)).toBe('[1] one\n[1] two\n[1] \n[1] three\n');
    expect(words.tail(1)).toBe('three');
  });

  test('without a prefix passes through as it is', async () => {
    const from = new PassThrough();
    const to = new PassThrough();
    forward(from, { to, prefix: undefined, words: undefined });
    from.write(Buffer.from('é').subarray(0, 1));
    from.end(Buffer.from('é').subarray(1));
    setTimeout(() => to.end(), 20);
    expect(await text(to)).toBe('é');
  });
});

describe('cores', () => {
  test('are shared equally, from those allowed', () => {
    expect(shareCores([0, 2, 4, 6, 8], 2)).toEqual([
      [0, 2],
      [4, 6],
    ]);
    expect(shareCores([3, 5], 2)).toEqual([[3], [5]]);
  });

  test('are not shared when there are too few', () => {
    expect(shareCores([0, 1], 3)).toBeUndefined();
  });
});

test('a rank that was on its way out when it was told to end keeps its exit code', () => {
  const ended = { exitCode: undefined, signal: 'SIGTERM', afterStop: true } as const;
  const failure = exit(0, { ...ended, report: 'BAD_USAGE: cannot create x', announced: 2 });
  const job = { ok: false, failure, interrupted: undefined, exits: [failure] };
  expect(conclude(job)).toBe(2);
});
