import { describe, expect, test } from 'vitest';
import { Arrivals } from '../../src/fabric/arrivals.js';

const waiter = (endpoint = 0) => ({ endpoint, resolve: () => {}, reject: () => {} });

describe('arrivals', () => {
  test('that nobody waits for are counted until somebody asks', () => {
    const arrivals = new Arrivals();
    arrivals.arrive(0, 7);
    arrivals.arrive(0, 7);
    expect([1, 2, 3].map(() => arrivals.takeEarly(0, 7))).toEqual([true, true, false]);
  });

  test('of another endpoint or value do not count', () => {
    const arrivals = new Arrivals();
    arrivals.arrive(0, 7);
    expect(arrivals.takeEarly(1, 7)).toBe(false);
    expect(arrivals.takeEarly(0, 8)).toBe(false);
  });

  test('serve waiters in their order, and none who left', () => {
    const arrivals = new Arrivals();
    const [first, second, third] = [waiter(), waiter(), waiter()];
    for (const one of [first, second, third]) arrivals.wait(7, one);
    expect(arrivals.forget(7, second)).toBe(true);
    expect(arrivals.forget(7, second)).toBe(false);
    expect(arrivals.arrive(0, 7)).toBe(first);
    expect(arrivals.arrive(0, 7)).toBe(third);
    expect(arrivals.arrive(0, 7)).toBeUndefined();
  });

  test('that end with their endpoint leave the others waiting', () => {
    const arrivals = new Arrivals();
    const [lost, kept] = [waiter(0), waiter(1)];
    arrivals.wait(7, lost);
    arrivals.wait(7, kept);
    expect(arrivals.takeWhere(({ endpoint }) => endpoint === 0)).toEqual([lost]);
    expect(arrivals.arrive(1, 7)).toBe(kept);
  });
});
