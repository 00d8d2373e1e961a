// Calls that once crashed the process, or kept it busy without end.
import { expect, test } from 'vitest';
import { loadLibrary } from '../../src/fabric/library.js';
import { addon } from '../../src/native/addon.js';
import type { NativePort } from '../../src/native/fabric.js';

const portOf = (command: unknown = new Float64Array(16)) =>
  new (addon().Port)(command as Float64Array, new Uint32Array(64));

test('an array of another type is refused: its bytes would be read past their end', () => {
  expect(() => portOf(new Uint8Array(16))).toThrow(TypeError);
  const memory = new (addon().Memory)(64, false);
  const blocks = new Uint8Array(3) as unknown as Float64Array;
  expect(() => addon().sequence(memory, 0, 0, blocks)).toThrow(TypeError);
});

test('a command for an endpoint that is not open is refused', () => {
  const port = portOf();
  port.addRegion(new (addon().Memory)(64, false), []);
  expect(() => port.post()).toThrow('post: no such endpoint');
  port.close();
});

test('a command with numbers that are none is refused', () => {
  const command = new Float64Array(16).fill(Number.NaN);
  expect(() => portOf(command).post()).toThrow('out of range');
});

test('what is not in flight cannot be cancelled', () => {
  const port = portOf();
  expect(() => port.post()).toThrow('no such endpoint');
  expect(port.cancel(0)).toBe(false);
  expect(port.cancel(7)).toBe(false);
});

test('one object does not pass for another', () => {
  const port = portOf() as unknown as InstanceType<ReturnType<typeof addon>['Memory']>;
  expect(() => addon().copyBlock(port, port, 0, 0, 0)).toThrow('not a buffer of host memory');
});

test('numbers of an unknown type are refused', () => {
  const memory = new (addon().Memory)(64, false);
  expect(() => addon().sequence(memory, 9, 0, Float64Array.of(0, 64, 0))).toThrow('no such type');
});

test('a list that only says that it is long is refused', () => {
  loadLibrary();
  const port = portOf();
  const long = new Array(2 ** 32 - 1);
  expect(() => port.connect(0, 0, long)).toThrow(TypeError);
  expect(() => port.addRegion(new (addon().Memory)(64, false), long)).toThrow(TypeError);
  expect(() => addon().pinToCores(long)).toThrow(TypeError);
});

test('a look at the queues ends, whatever number of looks is asked for', () => {
  expect(portOf().poll(2 ** 32 - 1)).toBe(0);
});

test('a function of a port keeps the port', () => {
  const { poll } = portOf() as unknown as { poll: { owner?: NativePort } };
  expect(poll.owner).toBeInstanceOf(addon().Port);
});
