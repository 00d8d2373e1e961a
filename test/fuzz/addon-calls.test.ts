import { expect, test } from 'vitest';
import { addonCalls, perform } from './targets/addon.js';
import { connectPort, native, templates } from './targets/addon-calls.js';

const called = (type?: string) =>
  new Set(templates.filter(({ of }) => of?.type === type).map(({ method }) => method));

test('the target calls everything that the addon exports', () => {
  const missing = Object.keys(native()).filter((name) => !called().has(name));
  expect(missing).toEqual([]);
});

test('calls with nothing wrong are accepted', async () => {
  addonCalls.open!();
  const runs = templates.filter(
    ({ of, method }) => method === 'run' && of?.prepare === connectPort,
  );
  const writes = templates.filter(({ of }) => of?.type === 'PeerMemory');
  expect(Math.min(runs.length, writes.length)).toBeGreaterThan(2);
  for (const template of [...runs, ...writes]) {
    await perform({ template, wrong: [], closedFirst: false }, new Map());
  }
});

test.each(['Memory', 'SharedMemory', 'PeerMemory', 'TransferBoard', 'Port'])(
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
