import fc from 'fast-check';
import { allToAllMatrixTraffic, allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { strategies } from '../../src/plan/strategies.js';
import type { Traffic } from '../../src/plan/traffic.js';

export const arbitraryStrategy = fc.constantFrom(...strategies);
export const arbitraryChannels = fc.integer({ min: 1, max: 16 });

/** Zero, less than a cache line, odd, and aligned sizes alike. */
export const bytesUpTo = (max: number) =>
  fc.oneof(fc.integer({ min: 0, max: 16 }), fc.integer({ min: 0, max }), fc.constant(max));

const oneToEach = (maxWorld: number, maxBytes: number) =>
  fc.integer({ min: 2, max: maxWorld }).chain((world) =>
    fc
      .record({
        from: fc.integer({ min: 0, max: world - 1 }),
        order: fc.shuffledSubarray(
          Array.from({ length: world }, (_, rank) => rank),
          { minLength: 2 },
        ),
        bytes: bytesUpTo(maxBytes),
        buffers: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
      })
      .map(({ from, order, bytes, buffers }) => {
        const to = order.filter((rank) => rank !== from);
        return oneToEachTraffic({ world, from, to, bytes, ...(buffers && { buffers }) });
      }),
  );

const allToAll = (maxWorld: number, maxBytes: number) =>
  fc
    .record({ world: fc.integer({ min: 1, max: maxWorld }), bytes: bytesUpTo(maxBytes) })
    .map(allToAllTraffic);

const matrix = (maxWorld: number, maxBytes: number) =>
  fc.integer({ min: 1, max: Math.min(maxWorld, 8) }).chain((world) => {
    const row = fc.array(bytesUpTo(maxBytes), { minLength: world, maxLength: world });
    return fc
      .array(row, { minLength: world, maxLength: world })
      .map((rows) => allToAllMatrixTraffic({ matrix: rows }));
  });

/** Traffic made of writes. */
export const arbitraryTraffic = (maxWorld: number, maxBytes: number): fc.Arbitrary<Traffic> =>
  fc.oneof(oneToEach(maxWorld, maxBytes), allToAll(maxWorld, maxBytes), matrix(maxWorld, maxBytes));

export const ranksOf = (traffic: Traffic): number[] =>
  Array.from({ length: traffic.world }, (_, rank) => rank);

/** The 32-bit immediate of a plan's chunk: [0][15 bits source rank][16 bits slot]. */
export const planImmediate = (source: number, slot: number): number => source * 65_536 + slot;
