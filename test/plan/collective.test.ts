import { expect, test } from 'vitest';
import { allToAllV, collectiveTraffic, footprintOf } from '../../src/plan/collective.js';
import { contentsOf } from '../../src/plan/traffic.js';

const sized = (kind: 'allreduce' | 'allgather' | 'reduce-scatter' | 'broadcast') =>
  ({ kind, bytes: 8, dtype: 'float32', root: 1 }) as const;
const after = (kind: Parameters<typeof sized>[0], rank: number) =>
  contentsOf(collectiveTraffic(sized(kind), 3), rank);

test('what every rank holds after a collective', () => {
  expect(after('allgather', 2)).toEqual(
    [0, 1, 2].map((rank) => ({ offset: rank * 8, bytes: 8, copyOf: { rank, offset: 0 } })),
  );
  const sumOf = (offset: number) => [0, 1, 2].map((rank) => ({ rank, offset }));
  expect(after('allreduce', 2)).toEqual([{ offset: 0, bytes: 8, sumOf: sumOf(0) }]);
  expect(after('reduce-scatter', 2)).toEqual([{ offset: 0, bytes: 8, sumOf: sumOf(16) }]);
  expect(after('broadcast', 1)).toEqual([]);
  expect(after('broadcast', 2)).toMatchObject([{ copyOf: { rank: 1, offset: 0 } }]);
});

test('how much of its buffers a rank uses', () => {
  const [input, output] = ['sourceBytes', 'targetBytes'] as const;
  expect(footprintOf(sized('allgather'), 0, 3)).toEqual({ [input]: 8, [output]: 24 });
  expect(footprintOf(sized('reduce-scatter'), 0, 3)).toEqual({ [input]: 24, [output]: 8 });
  expect(footprintOf(sized('allreduce'), 0, 3)).toEqual({ [input]: 8, [output]: 8 });
  expect(footprintOf(sized('broadcast'), 1, 3)).toEqual({ [input]: 8, [output]: 0 });
});

test('blocks of an alltoallv lie in the order of ranks at both ends', () => {
  const bytes = [
    [0, 8, 4],
    [4, 0, 0],
    [8, 4, 0],
  ];
  const exchange = allToAllV(3, (from, to) => bytes[from]![to]!, 4);
  expect(exchange.uniform).toBe(false);
  expect(contentsOf(collectiveTraffic(exchange, 3), 1)).toEqual([
    { offset: 0, bytes: 8, copyOf: { rank: 0, offset: 0 } },
    { offset: 8, bytes: 0, copyOf: { rank: 1, offset: 4 } },
    { offset: 8, bytes: 4, copyOf: { rank: 2, offset: 8 } },
  ]);
  expect(allToAllV(3, () => 8).uniform).toBe(true);
  expect([1, 6, 12, 14336].map((unit) => allToAllV(3, () => unit, unit).elementBytes)).toEqual([
    1, 2, 4, 8,
  ]);
});
