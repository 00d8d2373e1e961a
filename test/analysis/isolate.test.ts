import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Search, type Try } from '../../src/analysis/isolate/search.js';

const named = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);

/** Fails where one of these sets is among the nodes; counts the tries, none of which comes twice. */
function failing(sets: readonly (readonly string[])[], minNodes = 1) {
  const tried: string[] = [];
  const fails = (nodes: readonly string[]) =>
    nodes.length >= minNodes && sets.some((set) => set.every((node) => nodes.includes(node)));
  const attempt: Try = async (nodes) => {
    expect(tried).not.toContain(nodes.join());
    tried.push(nodes.join());
    return fails(nodes) ? 'failed' : 'passed';
  };
  return { attempt, fails, tried };
}

const search = (count: number, attempt: Try, limits: { tries?: number; minNodes?: number } = {}) =>
  new Search(named(count), attempt, { tries: 1000, minNodes: 1, ...limits }).run();

describe('the smallest failing set', () => {
  test('nodes that pass together are not split', async () => {
    const { attempt, tried } = failing([]);
    expect(await search(8, attempt)).toEqual({
      outcome: 'clean',
      culprits: [],
      healthy: named(8),
    });
    expect(tried).toHaveLength(1);
  });

  test('two nodes that fail only together are told from two that fail alone', async () => {
    const pair = await search(8, failing([['n1', 'n6']], 2).attempt, { minNodes: 2 });
    expect(pair.culprits).toEqual([
      { nodes: ['n1', 'n6'], kind: 'together', blamed: ['n1', 'n6'] },
    ]);
    expect(pair.healthy).toEqual(['n0', 'n2', 'n3', 'n4', 'n5', 'n7']);
    const two = await search(8, failing([['n1'], ['n6']], 2).attempt, { minNodes: 2 });
    expect(two.culprits.flatMap(({ blamed }) => blamed).sort()).toEqual(['n1', 'n6']);
    expect(two.culprits.every(({ kind }) => kind === 'alone')).toBe(true);
  });

  test('where any three nodes fail, no node is blamed', async () => {
    const attempt: Try = async (nodes) => (nodes.length >= 3 ? 'hung' : 'passed');
    const { culprits } = await search(12, attempt);
    expect(culprits).toMatchObject([{ kind: 'any', blamed: [] }]);
    expect(culprits[0]!.nodes).toHaveLength(3);
  });

  test('with too few healthy nodes nobody is singled out', async () => {
    const { culprits } = await search(2, failing([['n1']], 2).attempt, { minNodes: 2 });
    expect(culprits).toMatchObject([{ kind: 'undecided', blamed: ['n0', 'n1'] }]);
  });

  test('a command that cannot run is no failure', async () => {
    const found = await search(4, async () => 'unresolved');
    expect(found).toMatchObject({ outcome: 'unresolved', culprits: [] });
  });

  test('without tries left, the smallest set that failed is told', async () => {
    const { attempt, tried } = failing([['n1', 'n6']]);
    const found = await search(8, attempt, { tries: 4 });
    expect(tried).toHaveLength(4);
    expect(found.outcome).toBe('partly');
    const [culprit] = found.culprits;
    expect(culprit).toMatchObject({ kind: 'undecided' });
    expect(culprit!.nodes.length).toBeLessThan(8);
    expect(culprit!.nodes).toEqual(expect.arrayContaining(['n1', 'n6']));
  });

  test('of random failing sets a smallest one is found, and the rest passes', async () => {
    const worlds = fc.record({
      count: fc.integer({ min: 2, max: 24 }),
      minNodes: fc.constantFrom(1, 2),
      sets: fc.array(fc.uniqueArray(fc.nat(23), { minLength: 1, maxLength: 4 }), {
        minLength: 1,
        maxLength: 3,
      }),
    });
    await fc.assert(
      fc.asyncProperty(worlds, async ({ count, minNodes, sets }) => {
        const known = sets.map((set) => [...new Set(set.map((node) => `n${node % count}`))]);
        const { attempt, fails, tried } = failing(known, minNodes);
        const { outcome, culprits, healthy } = await search(count, attempt, { minNodes });
        expect(outcome).toBe('found');
        for (const { nodes } of culprits) {
          expect(fails(nodes)).toBe(true);
          for (const left of nodes) expect(fails(nodes.filter((n) => n !== left))).toBe(false);
        }
        const blamed = culprits.flatMap((one) => one.blamed);
        const any = culprits.some(({ kind }) => kind === 'any');
        if (!any) expect(fails(named(count).filter((n) => !blamed.includes(n)))).toBe(false);
        expect(fails(healthy)).toBe(false);
        expect(tried.length).toBeLessThan(150);
      }),
      { numRuns: 300 },
    );
  });

  test('one of 1,024 nodes takes few tries', async () => {
    const { attempt, tried } = failing([['n700']], 2);
    const { culprits } = await search(1024, attempt, { minNodes: 2 });
    expect(culprits).toMatchObject([{ kind: 'alone', blamed: ['n700'] }]);
    expect(tried.length).toBeLessThan(32);
  });
});
