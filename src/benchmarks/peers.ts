/** Everyone but rank 0. */
export const peersOf = (world: number): number[] =>
  Array.from({ length: world - 1 }, (_, index) => index + 1);
