import type { Target } from '../target.js';

/** Goes wrong in every way that the harness must notice, at inputs of its own choice. */
export const selfTest: Target = {
  name: 'self-test',
  share: 0,
  make: (dice) => {
    const number = dice.below(1000);
    return { shown: String(number), run: () => faults[count++]?.(), isRefusal: () => false };
  },
};

let count = 0;
const faults: readonly ((() => unknown) | undefined)[] = [
  undefined,
  () => {
    throw new TypeError('a mistake');
  },
  () => void Promise.reject(new Error('nobody waits')),
  () => new Promise((resolve) => setTimeout(resolve, 20)),
  () => process.abort(),
];
