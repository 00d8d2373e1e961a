import { expect, test } from 'vitest';
import { concludeAll } from '../../../src/analysis/diagnosis/loss.js';
import type { Suspect } from '../../../src/analysis/diagnosis/suspects.js';
import type { Retest } from '../../../src/results/finding.js';
import { worldOf } from './matrices.js';

type Measured = readonly [from: number, to: number, rail: number, meanUs: number, resent: number];

/** Of a lab of four hosts in which h1 lost 1 % of its packets: bandwidth and median latency were those of the healthy. */
const firstPair: Measured[] = [
  [0, 1, 0, 20.8, 5],
  [0, 2, 0, 16.4, 0],
  [1, 0, 0, 17.7, 3],
  [2, 0, 0, 16.4, 0],
  [0, 1, 1, 15.7, 3],
  [0, 2, 1, 15.4, 0],
  [1, 0, 1, 3219.5, 4],
  [2, 0, 1, 19.3, 0],
];
const secondPair: Measured[] = [
  [1, 3, 0, 3227.1, 8],
  [1, 2, 0, 18.2, 4],
  [3, 1, 0, 16.6, 6],
  [2, 1, 0, 3260.9, 4],
  [1, 3, 1, 15.8, 4],
  [1, 2, 1, 16.6, 4],
  [3, 1, 1, 15.9, 4],
  [2, 1, 1, 17.4, 2],
];

const resultOf = (ranks: readonly [number, number], metric: 'loss' | 'stall', some: Measured[]) => {
  const suspect: Suspect = {
    kind: 'pair',
    ranks,
    symptoms: [{ metric, effect: -2, sigmas: 6, consistency: 1 }],
  };
  const retests = some.map(
    ([from, to, rail, meanUs, resent]): Retest => ({
      from,
      to,
      rail,
      gbps: 0.0992,
      latencyNanoseconds: 14_000,
      latencyMeanNanoseconds: meanUs * 1000,
      resent,
      control: !(ranks.includes(from) && ranks.includes(to)),
    }),
  );
  return { suspect, retests, pace: [] };
};

const matrix = { ...worldOf(4, 2), cells: [] };
const first = resultOf([0, 1], 'loss', firstPair);
const second = resultOf([1, 3], 'stall', secondPair);

test('two pairs that lose have a host in common: it is named, and neither pair', () => {
  const { findings, dismissed } = concludeAll([first, second], matrix);
  expect(findings).toMatchObject([
    { cause: 'host', who: { host: 'h1', direction: 'both' }, symptom: 'loss' },
  ]);
  expect(dismissed).toEqual([]);
});

test('a host is named once, however many of its pairs lose', () => {
  const withControl = secondPair.map(
    (one): Measured => (one[1] === 2 || one[0] === 2 ? [one[0], one[1], one[2], 15, 0] : one),
  );
  const { findings } = concludeAll([first, resultOf([1, 3], 'stall', withControl)], matrix);
  expect(findings).toMatchObject([{ cause: 'host', who: { host: 'h1' }, symptom: 'loss' }]);
});

test('a pair stays one where nothing is known of its ends with others, or nothing bad', () => {
  expect(concludeAll([first], matrix).findings).toMatchObject([{ cause: 'pair', symptom: 'loss' }]);
});
