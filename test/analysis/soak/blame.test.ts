import { describe, expect, test } from 'vitest';
import { blame, type Case } from '../../../src/analysis/soak/blame.js';
import { suspectsText } from '../../../src/analysis/soak/words.js';

const hosts = ['h0', 'h1', 'h2', 'h3'];
const nics = hosts.map(() => ['nic0', 'nic1']);

/** An iteration of 2.1 s that is usually done in 0.1 s, from 1 s to 3.1 s of its loop. */
const stall = (changes: Partial<Case>): Case => ({
  hosts,
  nics,
  during: 'iteration',
  span: { atMs: 1000, milliseconds: 2100 },
  extraMs: 2000,
  waits: [],
  links: [],
  pauses: [],
  ...changes,
});

const wait = (rank: number, peers: readonly number[], channel?: number, barrier = false) => ({
  ...{ rank, barrier, atMs: 1050, milliseconds: 2050 },
  open: peers.map((peer) => ({ peer, channel })),
});

describe('a link that was down', () => {
  const link = { host: 'h2', nic: 'nic0', atMs: 1040, milliseconds: 2000 };

  test('is named with its ranks, whoever waited', () => {
    const found = blame(stall({ links: [link], waits: [wait(0, [2]), wait(2, [0])] }));
    expect(found).toMatchObject({
      proven: true,
      suspects: [{ host: 'h2', nic: 'nic0', ranks: [2], why: 'link-down' }],
      waiting: [
        { rank: 0, for: [2] },
        { rank: 2, for: [0] },
      ],
      atMs: 1050,
    });
  });

  test('is not blamed for what happened at another time', () => {
    const found = blame(stall({ links: [{ ...link, atMs: 8000 }], pair: [0, 2] }));
    expect(found).toMatchObject({ proven: false, suspects: [{ host: 'h0' }, { host: 'h2' }] });
  });

  test('is suspected for a while after: connections recover later', () => {
    const after = (atMs: number, changes: Partial<Case> = {}) =>
      blame(stall({ links: [{ ...link, atMs }], ...changes }));
    expect(after(-1200)).toMatchObject({ proven: true, suspects: [{ why: 'link-down' }] });
    expect(after(-2500)).toMatchObject({ proven: false, suspects: [{ why: 'link-down' }] });
    expect(suspectsText(after(-2500))).toMatch(/h2 \(rank 2\) was down until shortly before$/);
    expect(after(-3500)).toMatchObject({ proven: false, suspects: [] });
    const pauses = [{ rank: 3, atMs: 1100, milliseconds: 1900 }];
    expect(after(-2500, { pauses })).toMatchObject({ proven: true, suspects: [{ ranks: [3] }] });
  });

  test('and another are named together', () => {
    const found = blame(stall({ links: [link, { ...link, host: 'h3' }] }));
    expect(suspectsText(found)).toBe(
      'the links of nic0 on h2 (rank 2) and nic0 on h3 (rank 3) were down',
    );
  });

  test('of a host without a part in the turn is not blamed', () => {
    expect(blame(stall({ links: [link], pair: [0, 1] })).proven).toBe(false);
    expect(blame(stall({ links: [link], pair: [0, 2] })).proven).toBe(true);
  });
});

describe('who waited for whom', () => {
  const suspectsOf = (waits: Case['waits'], pair?: Case['pair']) =>
    blame(stall({ waits, pair })).suspects;

  test('a host that all others wait for, and that waits for them', () => {
    const waits = [wait(0, [2], 0), wait(1, [2], 0), wait(3, [2], 0), wait(2, [0, 1, 3], 0)];
    expect(suspectsOf(waits)).toEqual([{ host: 'h2', ranks: [2], nic: 'nic0', why: 'awaited' }]);
  });

  test('two that wait for each other: either may be the cause', () => {
    expect(suspectsOf([wait(0, [2], 1), wait(2, [0])])).toEqual([
      { host: 'h0', ranks: [0], nic: 'nic1', why: 'pair' },
      { host: 'h2', ranks: [2], nic: 'nic1', why: 'pair' },
    ]);
  });

  test('whoever waits for one of those waits as a consequence', () => {
    const waits = [wait(1, [0]), wait(0, [2]), wait(2, [0]), wait(3, [1])];
    expect(suspectsOf(waits)).toMatchObject([{ host: 'h0' }, { host: 'h2' }]);
  });

  test('a rank that waits for nobody does not respond', () => {
    expect(suspectsOf([wait(0, [2]), wait(1, [2])])).toEqual([
      { host: 'h2', ranks: [2], why: 'awaited' },
    ]);
  });

  test('ranks that only wait in the barrier accuse nobody while others wait for data', () => {
    const waits = [wait(0, [2]), wait(2, [0]), wait(3, [1], 0, true), wait(1, [0], 0, true)];
    expect(blame(stall({ waits })).waiting.map(({ rank }) => rank)).toEqual([0, 2]);
  });

  test('a rank without a part in the turn waits in the barrier, stall or not', () => {
    const waits = [wait(3, [1], 0, true), wait(1, [0], 0, true)];
    const found = blame(stall({ waits, pair: [0, 2] }));
    expect(found).toMatchObject({ waiting: [], suspects: [{ ranks: [0] }, { ranks: [2] }] });
    const between = blame(
      stall({ during: 'between', waits: [...waits, wait(0, [3], 0, true)], pair: [0, 2] }),
    );
    expect(between.waiting).toEqual([{ rank: 0, for: [3] }]);
  });

  test('short silences explain nothing', () => {
    const short = { ...wait(0, [2]), milliseconds: 300 };
    expect(suspectsOf([short])).toEqual([]);
    expect(suspectsOf([short], [0, 3])).toMatchObject([{ ranks: [0] }, { ranks: [3] }]);
  });
});

test('a process that did not run is named', () => {
  const pauses = [{ rank: 3, atMs: 1100, milliseconds: 1900 }];
  expect(blame(stall({ pauses, waits: [wait(0, [3])] }))).toMatchObject({
    proven: true,
    suspects: [{ host: 'h3', ranks: [3], why: 'not-running' }],
  });
});
