import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Deliveries } from '../../src/shmem/deliveries.js';

/** A write that ends when told. */
function held() {
  const events: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const write = (name: string) => () => {
    events.push(`start ${name}`);
    return new Promise<void>((resolve, reject) => {
      ends.set(name, (error) => (error ? reject(error) : resolve()));
    });
  };
  return { events, write, end: (name: string, error?: Error) => ends.get(name)!(error) };
}

test('without a fence writes start at once', () => {
  const { events, write } = held();
  const deliveries = new Deliveries();
  void deliveries.start(1, write('a'));
  void deliveries.start(1, write('b'));
  expect(events).toEqual(['start a', 'start b']);
});

test('a write after a fence starts when those before it were delivered', async () => {
  const { events, write, end } = held();
  const deliveries = new Deliveries();
  void deliveries.start(1, write('a'));
  deliveries.fence();
  void deliveries.start(1, write('b'));
  await sleep(1);
  expect(events).toEqual(['start a']);
  end('a');
  await sleep(1);
  expect(events).toEqual(['start a', 'start b']);
});

test('two fences order three writes', async () => {
  const { events, write, end } = held();
  const deliveries = new Deliveries();
  for (const name of ['a', 'b', 'c']) {
    void deliveries.start(1, write(name));
    deliveries.fence();
  }
  for (const name of ['a', 'b', 'c']) {
    await sleep(1);
    expect(events.at(-1)).toBe(`start ${name}`);
    end(name);
  }
  await deliveries.quiet();
});

test('a fence does not hold up another peer', () => {
  const { events, write } = held();
  const deliveries = new Deliveries();
  void deliveries.start(1, write('a'));
  deliveries.fence();
  void deliveries.start(2, write('b'));
  expect(events).toEqual(['start a', 'start b']);
});

test('quiet waits for what a fence held back', async () => {
  const { events, write, end } = held();
  const deliveries = new Deliveries();
  void deliveries.start(1, write('a'));
  deliveries.fence();
  void deliveries.start(1, write('b'));
  const quiet = deliveries.quiet().then(() => events.push('quiet'));
  end('a');
  await sleep(1);
  expect(events).not.toContain('quiet');
  end('b');
  await quiet;
  expect(events.at(-1)).toBe('quiet');
});

test('quiet rejects with the first failure, once', async () => {
  const { write, end } = held();
  const deliveries = new Deliveries();
  deliveries.start(1, write('a')).catch(() => {});
  end('a', new Error('lost'));
  await expect(deliveries.quiet()).rejects.toThrow('lost');
  await expect(deliveries.quiet()).resolves.toBeUndefined();
});
