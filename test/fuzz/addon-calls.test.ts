import { expect, test } from 'vitest';
import { native, templates } from './targets/addon-calls.js';

const called = (type?: string) =>
  new Set(templates.filter(({ of }) => of?.type === type).map(({ method }) => method));

test('the target calls everything that the addon exports', () => {
  const missing = Object.keys(native()).filter((name) => !called().has(name));
  expect(missing).toEqual([]);
});

test.each(['Memory', 'SharedMemory', 'TransferBoard', 'Port'])(
  'the target calls every method of %s',
  (type) => {
    const members = Object.getOwnPropertyDescriptors(native()[type]!.prototype);
    const methods = Object.entries(members)
      .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
      .map(([name]) => name);
    expect(methods).not.toEqual([]);
    expect(methods.filter((name) => !called(type).has(name))).toEqual([]);
  },
);
