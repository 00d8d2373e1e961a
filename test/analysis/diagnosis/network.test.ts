import { describe, expect, test } from 'vitest';
import { headline } from '../../../src/analysis/diagnosis/diagnosis.js';
import type { Finding } from '../../../src/results/finding.js';
import { findingsIn, type World } from './simulated-fabric.js';

const summary = (findings: readonly Finding[]) =>
  findings.map(({ cause, who, symptom }) => ({ cause, symptom, ...who }));
const touches = (host: number, from: number, to: number) => from === host || to === host;

/** Leaves of 4 hosts each. */
const network = (leaves: number, leavesPerSpine = leaves) => {
  const leafOf = Array.from({ length: 4 * leaves }, (_, host) => Math.floor(host / 4));
  return {
    hosts: 4 * leaves,
    network: {
      leaves: leafOf.map((leaf) => `leaf${leaf}`),
      spines: leafOf.map((leaf) => `spine${Math.floor(leaf / leavesPerSpine)}`),
    },
  };
};
const inLeaf = (leaf: number, host: number) => Math.floor(host / 4) === leaf;
const nic = { cause: 'nic', symptom: 'slow', host: 'h2', rail: 1, nic: 'nic1', direction: 'both' };
const spine = { cause: 'spine', symptom: 'slow', spine: 'spine0', direction: 'both' };

describe('leaves and spines', () => {
  const named: [string, World, object[]][] = [
    ['healthy', { ...network(2), rails: 2, uplink: () => 4 }, []],
    ['a spine that is oversubscribed', { ...network(2), rails: 1, uplink: () => 1 }, [spine]],
    ['a spine with half of what hosts need', { ...network(2), rails: 2, uplink: () => 2 }, [spine]],
    [
      'the spine of one rail',
      { ...network(2), rails: 2, uplink: (_, rail) => (rail === 1 ? 1 : 4) },
      [{ ...spine, rail: 1, nic: 'nic1' }],
    ],
    [
      'the uplinks of one leaf of four',
      { ...network(4), rails: 1, uplink: (leaf) => (leaf === 'leaf2' ? 1 : 4) },
      [{ cause: 'uplink', symptom: 'slow', leaf: 'leaf2', direction: 'both' }],
    ],
    [
      'a slow leaf switch',
      {
        ...network(4),
        rails: 1,
        share: (f, t) => (inLeaf(1, f) || inLeaf(1, t) ? 0.4 : 1),
      },
      [{ cause: 'leaf', symptom: 'slow', leaf: 'leaf1', direction: 'both' }],
    ],
    [
      'what connects two spines',
      {
        ...network(4, 2),
        rails: 1,
        share: (f, t) => (f < 8 === t < 8 ? 1 : 0.3),
      },
      [{ cause: 'core', symptom: 'slow', direction: 'both' }],
    ],
    [
      'a slow host',
      { ...network(2), rails: 2, uplink: () => 4, share: (f, t) => (touches(2, f, t) ? 0.5 : 1) },
      [{ cause: 'host', symptom: 'slow', host: 'h2', direction: 'both' }],
    ],
    [
      'a slow NIC',
      {
        ...network(2),
        rails: 2,
        uplink: () => 4,
        share: (f, t, r) => (touches(2, f, t) && r === 1 ? 0.5 : 1),
      },
      [nic],
    ],
    [
      'a slow NIC beside a spine that is oversubscribed',
      {
        ...network(2),
        rails: 2,
        uplink: () => 1,
        share: (f, t, r) => (touches(2, f, t) && r === 1 ? 0.5 : 1),
      },
      [spine, nic],
    ],
    [
      'a longer way across the spine, which is healthy',
      {
        ...network(2),
        rails: 1,
        uplink: () => 4,
        latencyFactor: (f, t) => (inLeaf(0, f) === inLeaf(0, t) ? 1 : 2.5),
      },
      [],
    ],
    [
      'a host with high latency, also across',
      {
        ...network(2),
        rails: 1,
        latencyFactor: (f, t) =>
          (touches(5, f, t) ? 4 : 1) * (inLeaf(0, f) === inLeaf(0, t) ? 1 : 2),
      },
      [{ cause: 'host', symptom: 'late', host: 'h5', nic: 'nic0', direction: 'both' }],
    ],
  ];

  test.for(named)('%s', ([, world, expected]) => {
    for (let seed = 1; seed <= 5; seed++)
      expect(summary(findingsIn(world, seed))).toEqual(expected);
  });

  test('the finding says what pairs carry together and alone', () => {
    const [finding] = findingsIn({ ...network(2), rails: 1, uplink: () => 1 }, 1);
    expect(headline(finding!)).toMatch(/^spine spine0: slow, 25 % of healthy bandwidth/);
    expect(finding!.evidence).toMatch(
      /carries 25 % of what a pair inside a leaf carries; one pair alone carries (99|100|101) %/,
    );
  });

  test('what was slow only during the scan is not named', () => {
    expect(findingsIn({ ...network(2), rails: 1, uplink: () => 1, passing: true }, 1)).toEqual([]);
  });
});
