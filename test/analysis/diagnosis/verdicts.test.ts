import { describe, expect, test } from 'vitest';
import { conclude } from '../../../src/analysis/diagnosis/conclude.js';
import { bestOf } from '../../../src/benchmarks/pairs/retest-plan.js';
import type { Finding, Retest } from '../../../src/results/finding.js';
import { worldOf } from './matrices.js';
import { findingsIn, range, type World } from './simulated-fabric.js';

const summary = (findings: readonly Finding[]) =>
  findings.map(({ cause, who, symptom }) => ({ cause, symptom, ...who }));
const touches = (rank: number, from: number, to: number) => from === rank || to === rank;

describe('from a matrix to a name', () => {
  const named: [string, World, object[]][] = [
    ['healthy', { hosts: 4, rails: 2 }, []],
    [
      'a slow NIC, found over all rails and told by the retest',
      { hosts: 4, rails: 4, share: (f, t, r) => (touches(2, f, t) && r === 1 ? 0.7 : 1) },
      [{ cause: 'nic', symptom: 'slow', host: 'h2', rail: 1, nic: 'nic1', direction: 'both' }],
    ],
    [
      'a NIC that sends slowly',
      { hosts: 4, rails: 2, share: (f, _, r) => (f === 0 && r === 1 ? 0.3 : 1) },
      [{ cause: 'nic', symptom: 'slow', host: 'h0', rail: 1, nic: 'nic1', direction: 'out' }],
    ],
    [
      'two bad NICs of different hosts',
      {
        hosts: 4,
        rails: 2,
        share: (f, t, r) =>
          (touches(0, f, t) && r === 0) || (touches(3, f, t) && r === 1) ? 0.4 : 1,
      },
      [
        { cause: 'nic', symptom: 'slow', host: 'h0', rail: 0, nic: 'nic0', direction: 'both' },
        { cause: 'nic', symptom: 'slow', host: 'h3', rail: 1, nic: 'nic1', direction: 'both' },
      ],
    ],
    [
      'a host with all NICs at half',
      { hosts: 4, rails: 2, share: (f, t) => (touches(1, f, t) ? 0.5 : 1) },
      [{ cause: 'host', symptom: 'slow', host: 'h1', direction: 'both' }],
    ],
    [
      'a rail that is slow for everyone, which only each rail alone can show',
      { hosts: 4, rails: 3, share: (_f, _t, r) => (r === 1 ? 0.6 : 1) },
      [{ cause: 'rail', symptom: 'slow', rail: 1, nic: 'nic1', direction: 'both' }],
    ],
    [
      'a host that loses packets',
      { hosts: 4, rails: 2, resent: (f, t) => (touches(3, f, t) ? 8 : 0) },
      [{ cause: 'host', symptom: 'loss', host: 'h3', direction: 'both' }],
    ],
    [
      'a host that loses mostly, but not only, with one other',
      {
        hosts: 4,
        rails: 1,
        resent: (f, t) => (!touches(1, f, t) ? 0 : touches(0, f, t) ? 5 : f === 1 ? 2 : 1),
      },
      [{ cause: 'host', symptom: 'loss', host: 'h1', nic: 'nic0', direction: 'both' }],
    ],
    [
      'a pair that loses, and its ends do not with others',
      { hosts: 4, rails: 2, resent: (f, t) => (touches(1, f, t) && touches(2, f, t) ? 8 : 0) },
      [{ cause: 'pair', symptom: 'loss', from: 'h1', to: 'h2', direction: 'both' }],
    ],
    [
      'a pair that is slow one way',
      { hosts: 5, rails: 1, share: (f, t) => (f === 3 && t === 1 ? 0.4 : 1) },
      [{ cause: 'pair', symptom: 'slow', from: 'h3', to: 'h1', direction: 'out' }],
    ],
    [
      'a host that answers late',
      { hosts: 4, rails: 2, latencyFactor: (f, t) => (touches(1, f, t) ? 5 : 1) },
      [{ cause: 'host', symptom: 'late', host: 'h1', direction: 'both' }],
    ],
    [
      'a rank that stands still, slow on all rails for it',
      {
        hosts: 4,
        rails: 2,
        stopped: (rank) => (rank === 2 ? 0.4 : 0),
        share: (f, t) => (touches(2, f, t) ? 0.7 : 1),
      },
      [{ cause: 'rank', symptom: 'stalls', rank: 2, host: 'h2', direction: 'both' }],
    ],
    [
      'what has passed when it is looked at again',
      { hosts: 4, rails: 2, passing: true, share: (f, t) => (touches(1, f, t) ? 0.5 : 1) },
      [],
    ],
  ];

  test.each(named)('%s', (_, world, expected) => {
    for (const seed of range(10)) {
      const found = summary(findingsIn(world, seed + 1));
      expect(found).toHaveLength(expected.length);
      expect(found).toEqual(expect.arrayContaining(expected));
    }
  });

  test('confidence grows with the effect, and is never certain', () => {
    const at = (share: number) =>
      findingsIn({ hosts: 4, rails: 1, share: (f, t) => (touches(1, f, t) ? share : 1) }, 1)[0]!;
    expect(at(0.1).confidence).toBeGreaterThanOrEqual(at(0.8).confidence);
    expect(at(0.1).confidence).toBeLessThan(1);
    expect(at(0.8).effect).toBeCloseTo(0.8, 1);
  });
});

test('a rail is not slow where another pair is well on it', () => {
  const symptoms = [{ metric: 'slow', effect: -0.4, sigmas: 9, consistency: 1 }] as const;
  const suspect = { kind: 'rail', ranks: [], rail: 1, symptoms } as const;
  const common = { latencyNanoseconds: 1, latencyMeanNanoseconds: 1, resent: 0 };
  const retest = (from: number, rail: number, gbps: number): Retest => {
    return { ...common, from, to: from + 1, rail, gbps, control: from > 0 };
  };
  const of = (other: number) =>
    conclude(
      {
        suspect,
        retests: [retest(0, 0, 1), retest(0, 1, 0.6), retest(2, 0, 1), retest(2, 1, other)],
        pace: [],
      },
      worldOf(4, 2),
    );
  expect(of(1)).toEqual([]);
  expect(of(0.6)).toMatchObject([{ cause: 'rail', who: { rail: 1 }, symptom: 'slow' }]);
});

test('of two retests the better counts', () => {
  const suspect = { kind: 'place', ranks: [1], symptoms: [] } as const;
  const retest = { from: 1, to: 0, rail: 0, latencyMeanNanoseconds: 9, control: false };
  const first = { ...retest, gbps: 0.05, latencyNanoseconds: 5, resent: 9 };
  const second = { ...retest, gbps: 0.1, latencyNanoseconds: 7, resent: 0 };
  const both = bestOf(
    { suspect, retests: [first], pace: [] },
    { suspect, retests: [second], pace: [] },
  );
  expect(both.retests[0]).toMatchObject({ gbps: 0.1, latencyNanoseconds: 5, resent: 0 });
});
