const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Of two whole numbers of at least 1: the least that both divide. */
export const leastMultiple = (a: number, b: number): number => (a / greatestDivisor(a, b)) * b;
