// Calls that once crashed the process, or kept it busy without end.
import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { loadLibrary } from '../../src/fabric/library.js';
import { addon } from '../../src/native/addon.js';
import type { NativeJob, NativePort } from '../../src/native/fabric.js';
import { encodePlan } from '../../src/plan/encode.js';
import { planVersion } from '../../src/plan/plan.js';

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

/** A port with an endpoint, and what belongs to it. */
function opened({ acknowledged = false } = {}) {
  loadLibrary();
  const [info] = addon().getInfo({ provider: 'shm', mrMode: 0, directed: true });
  const command = new Float64Array(16);
  const port = portOf(command);
  const how = { directed: true, acknowledged, peersExpected: 2, localShm: true };
  const open = () => port.open(info!.handle, how);
  open();
  return { port, open, command };
}

const memory = () => new (addon().Memory)(4096, false);

/** A plan without steps: all it does is to meet the other ranks. */
const jobOf = (channels: number): NativeJob => ({
  plan: encodePlan({
    ...{ version: planVersion, rank: 0, world: 1, channels, chunkBytes: 512, window: 4 },
    ...{ delivery: 'complete', sourceBytes: 64, targetBytes: 64, steps: [] },
  }),
  ...{ source: 0, target: 0, remotes: [0], iterations: 1, batch: 1 },
  ...{ timeoutMs: 5, expectedMs: 0, spinsBeforeYield: 0 },
});

test.each([
  [0, 'plan: the plan is malformed'],
  [1, 'plan: the plan uses more channels than are open'],
])('a plan of %i channels is refused by a port without endpoints', (channels, message) => {
  const port = portOf();
  port.addRegion(memory(), []);
  port.addRemote([], []);
  expect(() => port.run(jobOf(channels))).toThrow(message);
  port.close();
});

test('an endpoint that regions and addresses would not know is refused', () => {
  const before = portOf();
  before.addRemote([], []);
  const { port, open } = opened();
  port.name(0);
  expect(open).toThrow('open every NIC before');
  const [info] = addon().getInfo({ provider: 'shm', mrMode: 0, directed: true });
  const how = { directed: true, acknowledged: false, peersExpected: 2, localShm: true };
  expect(() => before.open(info!.handle, how)).toThrow('open every NIC before');
  before.close();
  port.close();
});

test('ranks that wait to be written to are not forgotten', () => {
  const { port } = opened();
  const address = port.name(0);
  expect(() => port.connect(0, 2, [address, address])).toThrow('not among those');
  port.connect(0, 0, [address, address]);
  expect(() => port.connect(0, 0, [address])).toThrow('connected already');
  port.close();
});

test('a port that never told its address acknowledges, too', () => {
  const other = opened({ acknowledged: true });
  const { port, command } = opened({ acknowledged: true });
  port.connect(0, 0, [other.port.name(0)]);
  const { id, keys } = port.addRegion(memory(), [7n]);
  const remote = port.addRemote([0n], keys);
  // Kind, endpoint, peer, region, offset, bytes, remote, its offset, data, flags: delivered.
  command.set([0, 0, 0, id, 0, 64, remote, 0, 0, 2]);
  expect(port.post()).toBe(0);
  port.close();
  other.port.close();
});

test('too few keys are a fault of the arguments', () => {
  const { port } = opened();
  const fault = { operation: 'arguments', code: constants.errno.EINVAL };
  expect(() => port.addRegion(memory(), [])).toThrow(expect.objectContaining(fault));
  port.close();
});

test.each(['write', 'copy'] as const)(
  'a %s to another process ends when it is aborted, however many passes a sample has',
  async (way) => {
    const bytes = 4096;
    const shared = new (addon().SharedMemory)(bytes);
    const peer = new (addon().PeerMemory)({ bytes, path: shared.path });
    const task = peer[way]({ grid: 2, block: 4, bytes, seed: 1, batch: 2 ** 50, samples: 2 });
    setTimeout(() => task.abort(), 5);
    await expect(task.done).rejects.toThrow('aborted');
  },
);

test('a look at the queues ends, whatever number of looks is asked for', () => {
  expect(portOf().poll(2 ** 32 - 1)).toBe(0);
});

test('a function of a port keeps the port', () => {
  const { poll } = portOf() as unknown as { poll: { owner?: NativePort } };
  expect(poll.owner).toBeInstanceOf(addon().Port);
});
