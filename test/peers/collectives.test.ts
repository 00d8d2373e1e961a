import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostBuffer } from '../../src/memory/buffer.js';
import { addon } from '../../src/native/addon.js';
import type { NativePeer } from '../../src/native/peer.js';
import { nativeOf } from '../../src/peers/open-peer.js';
import { refusalOf } from '../../src/peers/open-peers.js';
import { requireShim } from '../../src/peers/shims.js';
import { allToAllV, type Collective, footprintOf } from '../../src/plan/collective.js';
import { sumDtypes } from '../../src/plan/plan.js';

const world = 3;
const noBuffers = { sourceBytes: 0, targetBytes: 0 };
const ranks = Array.from({ length: world }, (_, rank) => rank);

/** What a rank's input holds: numbers that say whose they are and where they stood. */
const number = (rank: number, index: number): number => 100 * (rank + 1) + index;

describe('collectives of gloo, with every rank in this process', () => {
  const peers: NativePeer[] = [];
  const buffers = ranks.map(() => ({ source: new HostBuffer(256), target: new HostBuffer(256) }));

  beforeAll(async () => {
    const path = requireShim('gloo', 'gloo');
    for (const _ of ranks) peers.push(new (addon().Peer)(path, 'shim'));
    const common = { size: world, gpu: 0, networkInterface: 'lo', timeoutMs: 10_000 };
    const sizes = { sourceBytes: 256, targetBytes: 256 };
    const opened = peers.map((peer, rank) => peer.open({ rank, ...common, ...sizes }));
    const addresses = await Promise.all(opened);
    await Promise.all(peers.map((peer) => peer.connect(addresses)));
  });
  afterAll(() => Promise.all(peers.map((peer) => peer.close())));

  /** What every rank's output holds afterwards, as numbers. */
  async function outputs(collective: Collective, iterations = 1): Promise<number[][]> {
    for (const [rank, { source, target }] of buffers.entries()) {
      const numbers = new Int32Array(source.view().buffer);
      for (const index of numbers.keys()) numbers[index] = number(rank, index);
      target.view().fill(0xff);
    }
    await Promise.all(
      buffers.map(({ source, target }, rank) =>
        peers[rank]!.run(source.native, target.native, nativeOf(collective, rank), iterations, 1),
      ),
    );
    return buffers.map(({ target }, rank) => {
      const { targetBytes } = footprintOf(collective, rank, world);
      return [...new Int32Array(target.view().buffer, 0, targetBytes / 4)];
    });
  }

  const int32 = { bytes: 12, dtype: 'int32' } as const;

  test('allreduce: every rank has the sums', async () => {
    const sums = [0, 1, 2].map((i) => ranks.reduce((sum, rank) => sum + number(rank, i), 0));
    expect(await outputs({ kind: 'allreduce', ...int32 }, 3)).toEqual([sums, sums, sums]);
  });

  test('allgather: every rank has everybody’s part', async () => {
    const all = ranks.flatMap((rank) => [0, 1, 2].map((i) => number(rank, i)));
    expect(await outputs({ kind: 'allgather', ...int32 })).toEqual([all, all, all]);
  });

  test('broadcast: the others have what the root has', async () => {
    const sent = [0, 1, 2].map((i) => number(1, i));
    expect(await outputs({ kind: 'broadcast', root: 1, ...int32 })).toEqual([sent, [], sent]);
  });

  test('alltoallv: blocks of different sizes, and none for the sender itself', async () => {
    const bytes = [
      [0, 8, 4],
      [4, 0, 0],
      [8, 4, 0],
    ];
    const found = await outputs(allToAllV(world, (from, to) => bytes[from]![to]!, 4));
    expect(found).toEqual([[200, 300, 301], [100, 101, 302], [102]]);
  });

  test.each([
    ['float16', [0x3c00, 0x4000, 0x4200], 0x4600], // 1 + 2 + 3 = 6
    ['float32', [0x3f800000, 0x40000000, 0x40400000], 0x40c00000],
  ] as const)('%s is added', async (dtype, bits, sum) => {
    const View = dtype === 'float16' ? Uint16Array : Uint32Array;
    const bytes = 5 * View.BYTES_PER_ELEMENT;
    const collective = { kind: 'allreduce', bytes, dtype } as const;
    await Promise.all(
      buffers.map(({ source, target }, rank) => {
        new View(source.view().buffer as ArrayBuffer).fill(bits[rank]!);
        return peers[rank]!.run(source.native, target.native, nativeOf(collective, rank), 1, 1);
      }),
    );
    for (const { target } of buffers) {
      expect([...new View(target.view().buffer as ArrayBuffer, 0, 5)]).toEqual(Array(5).fill(sum));
    }
  });

  test('what does not fit the buffers is refused', () => {
    const { source, target } = buffers[0]!;
    const run = (collective: Collective, batch = 1) =>
      peers[0]!.run(source.native, target.native, nativeOf(collective, 0), 2, batch);
    expect(() => run({ kind: 'allgather', bytes: 128, dtype: 'int32' })).toThrow(/larger than/);
    expect(() => run({ kind: 'broadcast', ...int32, root: 3 })).toThrow(/not a collective/);
    expect(() => run({ kind: 'allreduce', bytes: 6, dtype: 'int32' })).toThrow(/not a collective/);
    expect(() => run({ kind: 'allreduce', ...int32 }, 3)).toThrow(/does not divide/);
    // As many bytes in all as other sizes would need, but not where they are said to be.
    const unlike = nativeOf(
      allToAllV(world, (_, to) => 4 * to, 4),
      0,
    );
    const uniform = { ...unlike, uniform: true };
    expect(() => peers[0]!.run(source.native, target.native, uniform, 1, 1)).toThrow(/not a coll/);
  });

  test('fewer or more addresses than ranks are refused, and a rank outside the group', () => {
    const address = new Uint8Array(64);
    for (const addresses of [[], [address, address], Array(4).fill(address)]) {
      expect(() => peers[0]!.connect(addresses)).toThrow(TypeError);
    }
    const setup = { size: world, gpu: 0, networkInterface: 'lo', timeoutMs: 10, ...noBuffers };
    expect(() => peers[0]!.open({ rank: world, ...setup })).toThrow(/not one of them/);
  });

  test('more samples than one array should hold are refused', () => {
    const { source, target } = buffers[0]!;
    const one = nativeOf({ kind: 'allreduce', ...int32 }, 0);
    expect(() => peers[0]!.run(source.native, target.native, one, 2 ** 52, 1)).toThrow(/at most/);
  });

  test('after its end a peer does nothing more, and may be closed again', async () => {
    const peer = new (addon().Peer)(requireShim('gloo', 'gloo'), 'shim');
    await peer.close();
    await expect(peer.close()).resolves.toBeUndefined();
    expect(() => peer.connect([])).toThrow('the peer is closed');
  });
});

test('what a library cannot add is said before it is opened', () => {
  const refused = (id: 'gloo' | 'mpi' | 'nccl', kind: 'allreduce' | 'allgather') =>
    sumDtypes.filter((dtype) => refusalOf(id, { kind, bytes: 8, dtype }, 2) !== undefined);
  expect(refused('mpi', 'allreduce')).toEqual(['float16', 'bfloat16']);
  expect(refused('mpi', 'allgather')).toEqual([]);
  expect(refused('gloo', 'allreduce')).toEqual(['bfloat16']);
  expect(refused('nccl', 'allreduce')).toEqual([]);
  const scatter = { kind: 'reduce-scatter', bytes: 8, dtype: 'int32' } as const;
  expect(refusalOf('gloo', scatter, 2)).toMatch(/gloo has no out-of-place reduce-scatter/);
});
