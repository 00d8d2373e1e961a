import fc from 'fast-check';
import {
  drawTokens,
  type Popularity,
  placeExperts,
  placements,
  type Routing,
} from '../../src/plan/routing.js';

interface Drawn {
  readonly world: number;
  readonly tokens: number;
  readonly experts: number;
  readonly topK: number;
  readonly popularity: Popularity;
  readonly seed: number;
  readonly placement: (typeof placements)[number];
}

export const routingOf = (drawn: Drawn): Routing => ({
  world: drawn.world,
  hostOf: placeExperts(drawn.experts, drawn.world, drawn.placement),
  tokens: drawTokens(drawn),
});

const arbitraryPopularity: fc.Arbitrary<Popularity> = fc.oneof(
  fc.constant({ kind: 'uniform' as const }),
  fc.record({
    kind: fc.constant('zipf' as const),
    exponent: fc.double({ min: 0, max: 10, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant('hot' as const),
    experts: fc.integer({ min: 1, max: 20 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
);

export const arbitraryDraw = (maxTokens: number, maxWorld = 5): fc.Arbitrary<Drawn> =>
  fc
    .record({
      world: fc.integer({ min: 2, max: maxWorld }),
      tokens: fc.integer({ min: 1, max: maxTokens }),
      experts: fc.integer({ min: 1, max: 12 }),
      wanted: fc.integer({ min: 1, max: 8 }),
      popularity: arbitraryPopularity,
      seed: fc.nat(),
      placement: fc.constantFrom(...placements),
    })
    .map(({ wanted, ...rest }) => ({ ...rest, topK: Math.min(wanted, rest.experts) }));

export const usual = {
  experts: 8,
  topK: 4,
  popularity: { kind: 'uniform' },
  placement: 'block',
} as const;
