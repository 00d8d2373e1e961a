import { describe, expect, test } from 'vitest';
import { chartsOf } from '../../src/report/charts.js';
import { formatTable } from '../../src/results/formats/table.js';
import type { Run } from '../../src/results/schema.js';
import { chart, seriesOf } from './drawn.js';
import { row, run } from './fixtures.js';

const routing = {
  kind: 'zipf:1.2',
  hash: '0a22d509fb20',
  tokens: [8, 8],
  dedup: 2,
  bytesOut: [1000, 4000],
  bytesIn: [3000, 1000],
  experts: 4,
  counts: [
    [1, 2, 3, 10],
    [4, 4, 4, 4],
  ],
  hosts: [0, 1, 0, 1],
};

const layerRun = (): Run =>
  run('moe', [
    row({ column: 'DispatchSinglePin', bytes: 4096, us: 30, boundGbps: 20, routing }),
    row({
      column: 'DispatchMultiPin',
      bytes: 4096,
      us: 20,
      boundGbps: 20,
      routing,
      imbalance: 1.5,
      tokensPerSecond: 800_000,
      perRank: [18, 20].map((us, rank) => ({
        rank,
        nanoseconds: row({ column: '', bytes: 1, us }).nanoseconds,
        // Its own NICs decide, which it may share: not its own bytes.
        load: [0.6, 1][rank]!,
      })),
    }),
  ]);

describe('of an expert layer a report shows', () => {
  test('tokens by rank and expert, experts of a rank side by side', () => {
    const drawn = chart([layerRun()], 'routing');
    expect(drawn).toMatchObject({ title: 'Tokens by rank and expert, 8 tokens per rank' });
    expect(drawn.caption).toContain('Routing zipf:1.2, hash 0a22d509fb20');
    expect(drawn.summary).toContain(
      'the most popular is expert 3 on rank 1 with 43.8 % of all choices',
    );
    const [map] = seriesOf(drawn);
    // Place, rank, tokens, expert, first rank, host.
    expect(map!.data.slice(0, 4)).toEqual([
      [0, 0, 1, 0, 0, 0],
      [1, 0, 3, 2, 0, 0],
      [2, 0, 2, 1, 0, 1],
      [3, 0, 10, 3, 0, 1],
    ]);
  });

  test('the bytes and the time of each rank beside its bound, of the fastest column', () => {
    const ids = chartsOf([layerRun()]).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['routed-ranks', 'routed-ranks-2']));
    const bytes = chart([layerRun()], 'routed-ranks');
    expect(bytes.title).toMatch(/^DispatchMultiPin: bytes of each rank/);
    expect(seriesOf(bytes).map(({ data }) => data)).toEqual([
      [
        [0, 1000],
        [1, 4000],
      ],
      [
        [0, 3000],
        [1, 1000],
      ],
    ]);
    const [measured, bound] = seriesOf(chart([layerRun()], 'routed-ranks-2'));
    expect(measured!.data).toHaveLength(2);
    const [first, second] = bound!.data as number[][];
    expect(first![1]! / second![1]!).toBeCloseTo(0.6, 3);
  });

  test('and a table says which routing it was and who was slowest', () => {
    const table = formatTable(layerRun(), { width: 200 });
    expect(table).toContain(
      '8 tokens per rank to 4 experts: routing zipf:1.2, hash 0a22d509fb20; ' +
        'one copy per rank instead of one per expert cuts traffic 2.00x; busiest rank 1.50x the mean',
    );
    expect(table).toContain('slowest rank: 1 in DispatchMultiPin');
    expect(table).toMatch(/Size +Tokens/);
  });
});
