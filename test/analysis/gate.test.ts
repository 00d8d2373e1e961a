import { describe, expect, test } from 'vitest';
import { gapFindings } from '../../src/analysis/diagnosis/gaps.js';
import { unfinishedGate, worstOf } from '../../src/analysis/gate/gate.js';
import { type GateFacts, judgeNodes } from '../../src/analysis/gate/judge.js';
import { suspectsOf } from '../../src/analysis/gate/suspects.js';
import { gateGaps } from '../../src/benchmarks/gate/gaps.js';
import { gateRounds } from '../../src/benchmarks/gate/rounds.js';
import { bothWays } from '../../src/plan/rounds.js';

const rate = 10;

/** A gate over these nodes, each NIC at its line rate where `slow` does not say otherwise. */
function factsOf(
  count: number,
  slow: (from: number, to: number, rail: number) => number | undefined = () => undefined,
  known = true,
): GateFacts {
  const nodes = Array.from({ length: count }, (_, i) => `n${i}`);
  const rounds = gateRounds(nodes, nodes);
  const cells = [0, 1].flatMap((rail) =>
    bothWays(rounds.flat())
      .flat()
      .map(([from, to]) => ({ from, to, rail, gbps: (slow(from, to, rail) ?? 0.95) * rate })),
  );
  const lineRatesGbps = known ? [rate, rate] : [null, null];
  return { nodes, nics: ['nic0', 'nic1'], lineRatesGbps, cells };
}

const grades = (facts: GateFacts) => judgeNodes(facts, []).map(({ grade }) => grade);

describe('rounds of the gate', () => {
  test.each([2, 3, 4, 5, 7, 8, 33])(
    '%i nodes: each meets two others, or all there are',
    (count) => {
      const nodes = Array.from({ length: count }, (_, i) => `n${i}`);
      const rounds = gateRounds(nodes, nodes);
      expect(rounds.length).toBeLessThanOrEqual(3);
      for (const round of rounds) expect(new Set(round.flat()).size).toBe(2 * round.length);
      for (const rank of nodes.keys()) {
        const peers = rounds.flat().filter((pair) => pair.includes(rank));
        expect(peers.length).toBeGreaterThanOrEqual(Math.min(2, count - 1));
      }
    },
  );

  test('of ranks that share NICs one is measured, of others each', () => {
    const nodes = ['a', 'a', 'b', 'b', 'b', 'b'];
    const shared = gateRounds(nodes, ['x', 'x', 'x', 'x', 'x', 'x']);
    expect(shared).toEqual([[[0, 2]]]);
    const apart = gateRounds(nodes, ['0', '1', '0', '1', '2', '3']);
    expect([...new Set(apart.flat(2))].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    for (const [from, to] of apart.flat()) expect(nodes[from]).not.toBe(nodes[to]);
  });
});

describe('rails that do not carry', () => {
  const [hosts, nodes] = [
    ['a', 'b', 'c'],
    ['n0', 'n1', 'n2'],
  ];
  const lacking = (host: string, peer: string) =>
    ({ nic: 'nic1', host, peer, reason: 'fewer-elsewhere', text: '' }) as const;

  test('a NIC that only one node lacks is missing there', () => {
    const unused = [lacking('a', 'b'), lacking('c', 'b')];
    expect(gateGaps(unused, hosts, nodes)).toEqual([{ nic: 'nic1', from: 'n1' }]);
    expect(gateGaps([lacking('a', 'b')], hosts, nodes)).toEqual([]);
  });

  test('a rail that does not reach a node keeps both ends', () => {
    const gap = { nic: 'nic0', host: 'a', peer: 'c', reason: 'does-not-reach', text: '' } as const;
    expect(gateGaps([gap], hosts, nodes)).toEqual([{ nic: 'nic0', from: 'n0', to: 'n2' }]);
  });
});

describe('the verdict on nodes', () => {
  test('healthy nodes pass', () => {
    expect(grades(factsOf(5))).toEqual(['pass', 'pass', 'pass', 'pass', 'pass']);
  });

  test.each([true, false])('one slow NIC fails its node alone (line rate known: %s)', (known) => {
    const facts = factsOf(
      5,
      (from, _, rail) => (from === 3 && rail === 1 ? 0.12 : undefined),
      known,
    );
    const judged = judgeNodes(facts, []);
    expect(judged.map(({ grade }) => grade)).toEqual(['pass', 'pass', 'pass', 'fail', 'pass']);
    const of = known ? 'the line rate' : 'the median of the other nodes';
    expect(judged[3]!.reason).toBe(
      `nic1 sends 1.2 Gbps, ${known ? 12 : 13} % of ${of}; expected at least ${known ? 8 : 7.6} Gbps`,
    );
    expect(judged[3]!.nics[1]).toMatchObject({ nic: 'nic1', outGbps: 1.2, inGbps: 9.5 });
  });

  test('without line rates a rail is compared with itself, where there are three nodes', () => {
    const slower = (_: number, __: number, rail: number) => (rail === 1 ? 0.2 : undefined);
    expect(grades(factsOf(3, slower, false))).toEqual(['pass', 'pass', 'pass']);
    expect(grades(factsOf(2, slower, false))).toEqual(['fail', 'fail']);
  });

  test('two thirds of the rate are degraded', () => {
    const facts = factsOf(4, (_, to) => (to === 0 ? 0.66 : undefined));
    expect(grades(facts)).toEqual(['degraded', 'pass', 'pass', 'pass']);
  });

  test('a pair that is slow between healthy nodes degrades both', () => {
    const [[[a, b]]] = gateRounds(['n0', 'n1', 'n2', 'n3'], ['', '', '', '']) as [
      [[number, number]],
    ];
    const facts = factsOf(4, (from, to) => (from === a && to === b ? 0.1 : undefined));
    const bad = judgeNodes(facts, []).filter(({ grade }) => grade !== 'pass');
    expect(bad.map(({ node, grade }) => [node, grade]).sort()).toEqual(
      [a, b].sort().map((rank) => [`n${rank}`, 'degraded']),
    );
    expect(bad[0]!.reason).toContain('both are fine with other nodes');
    expect(suspectsOf(facts)).toContainEqual({ pair: [a, b], rail: 0 });
  });

  test('a slow rank is measured again with a peer it has not met', () => {
    const facts = factsOf(8, (from) => (from === 3 ? 0.1 : undefined));
    const [suspect] = suspectsOf(facts);
    expect(suspect!.pair[0]).toBe(3);
    const met = facts.cells.filter(({ from }) => from === 3).map(({ to }) => to);
    expect(met).not.toContain(suspect!.pair[1]);
  });

  test('between two nodes either may be at fault', () => {
    const judged = judgeNodes(
      factsOf(2, (from) => (from === 0 ? 0.1 : undefined)),
      [],
    );
    expect(judged.map(({ grade }) => grade)).toEqual(['fail', 'fail']);
    expect(judged[0]!.reason).toContain('either node may be at fault');
  });

  test('--min-gbps is all or nothing', () => {
    expect(grades({ ...factsOf(3), minGbps: 9 })).toEqual(['pass', 'pass', 'pass']);
    expect(grades({ ...factsOf(3), minGbps: 9.6 })).toEqual(['fail', 'fail', 'fail']);
  });

  test('wrong bytes fail both ends', () => {
    const facts = factsOf(4);
    const [first, ...rest] = facts.cells;
    const failure = '3 of 64 bytes are wrong';
    const judged = judgeNodes({ ...facts, cells: [{ ...first!, failure }, ...rest] }, []);
    const bad = judged.filter(({ grade }) => grade === 'fail').map(({ node }) => node);
    expect(bad.sort()).toEqual([`n${first!.from}`, `n${first!.to}`].sort());
  });

  test('a NIC that reaches nobody fails its node; a pair that does not meet degrades two', () => {
    const facts = { ...factsOf(4), cells: [] };
    const down = gapFindings([{ nic: 'nic0', from: 'n2' }]);
    expect(judgeNodes(facts, down).map(({ grade }) => grade)).toEqual([
      ...['unmeasured', 'unmeasured', 'fail', 'unmeasured'],
    ]);
    const pair = gapFindings([{ nic: 'nic0', from: 'n1', to: 'n3' }]);
    const judged = judgeNodes(facts, pair);
    expect(judged.map(({ grade }) => grade)).toEqual([
      ...['unmeasured', 'degraded', 'unmeasured', 'degraded'],
    ]);
    expect(worstOf(judged)).toBe('degraded');
  });

  test('nodes that never joined fail, the others are not measured', () => {
    const blamed = new Map([['n1', 'never joined within 20 s']]);
    const at = { at: '2026-01-01T00:00:00Z', seconds: 20 };
    const gate = unfinishedGate(['n0', 'n1'], blamed, 'not measured: n1 never joined', at);
    expect(gate).toMatchObject({ schema: 'weft.gate/1', grade: 'fail', run: null });
    expect(gate.nodes.map(({ grade }) => grade)).toEqual(['unmeasured', 'fail']);
  });
});
