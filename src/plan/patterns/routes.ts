/**
 * How a block gets from its owner to all others, in ranks counted from the owner, which is 0. The same way back, a block
 * is added up towards its owner.
 */
export interface Route {
  readonly title: string;
  /** Whom `place` gives the block, in this order. */
  to(place: number, world: number): readonly number[];
  /** Who gives it the block; undefined for the owner. */
  from(place: number): number | undefined;
}

/** The owner writes to everybody. */
export const direct: Route = {
  title: 'direct',
  to: (place, world) => (place > 0 ? [] : Array.from({ length: world - 1 }, (_, i) => i + 1)),
  from: (place) => (place > 0 ? 0 : undefined),
};

/** Every rank passes the block on to the next one, except to its owner. */
export const ring: Route = {
  title: 'ring',
  to: (place, world) => (place + 1 < world ? [place + 1] : []),
  from: (place) => (place > 0 ? place - 1 : undefined),
};

/** A binomial tree: in every round, all who have the block give it to one more each. The largest branch is served first. */
export const tree: Route = {
  title: 'tree',
  to: (place, world) => {
    const places: number[] = [];
    for (let distance = 1; place + distance < world; distance *= 2) {
      if (distance > place) places.push(place + distance);
    }
    return places;
  },
  from: (place) => (place > 0 ? place - 2 ** (31 - Math.clz32(place)) : undefined),
};

/** Every route by the name under which users ask for it. */
export const routes = { direct, ring, tree } as const;
export type RouteId = keyof typeof routes;
