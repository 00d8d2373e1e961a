import { expect, test } from 'vitest';
import { Exchange, uniformMatrix } from '../../src/benchmarks/all-to-all-single/exchange.js';
import { lines } from '../../src/benchmarks/all-to-all-single/log.js';
import { timestamp } from '../../src/cli/measure-and-print.js';
import { namedInterfaces } from '../../src/peers/interfaces.js';
import { mpiOf } from '../../src/peers/mpi.js';
import { refusalOf } from '../../src/peers/open-peers.js';

test('the log speaks as the script does', () => {
  const exchange = new Exchange(uniformMatrix(2, 4 * 2 ** 20), 'float32');
  const ends = { first: ['0.0', '1.0'], last: ['2.0'] };
  expect([
    lines.device(0, 0),
    lines.processGroup(0, 2),
    lines.payload(0, exchange),
    lines.starting(0),
    lines.completed(0, 2_450_000),
    lines.verification(0, 2097152, ends),
  ]).toEqual([
    'Rank 0: Using CUDA device 0',
    'Rank 0/2: Process group initialized',
    'Rank 0: Creating payload tensor with 2097152 elements (8.00 MiB total, 1048576 elems/msg = 4.00 MiB/msg)',
    'Rank 0: Starting all_to_all_single operation...',
    'Rank 0: all_to_all_single completed in 2.45 ms',
    'Rank 0: Verification - output_numel=2097152 first_vals=[0.0, 1.0] last_vals=[2.0]',
  ]);
  expect(timestamp(new Date(2026, 10, 7, 9, 5, 3, 7))).toBe('2026-11-07 09:05:03.007');
});

test('interfaces are those that were named, in that order', () => {
  const there = ['lo', 'eth0', 'rdma0', 'rdma1'];
  expect(namedInterfaces({}, 'rdma1,rdma0', there)).toEqual(['rdma1', 'rdma0']);
  expect(namedInterfaces({ NCCL_SOCKET_IFNAME: 'rdma' }, undefined, there)).toEqual([
    'rdma0',
    'rdma1',
  ]);
  expect(namedInterfaces({ GLOO_SOCKET_IFNAME: 'eth0' }, undefined, there)).toEqual(['eth0']);
  expect(namedInterfaces({ NCCL_SOCKET_IFNAME: '^eth' }, undefined, there)).toEqual([]);
  expect(() => namedInterfaces({}, 'rdma0,rdma7', there)).toThrow(/`iface`: rdma7/);
});

test('which MPI it is follows from who started the ranks', () => {
  expect(mpiOf('openmpi', {})).toBe('openmpi');
  expect(mpiOf('mpich', {})).toBe('mpich');
  expect(mpiOf('srun', { PMIX_RANK: '0' })).toBe('openmpi');
  expect(mpiOf('srun', { PMI_FD: '7' })).toBe('mpich');
  expect(() => mpiOf('srun', {})).toThrow(/srun started the ranks/);
  expect(() => mpiOf('torchrun', {})).toThrow(/MPI needs its own launcher/);
});

test('MPI is left out where its 32-bit counts do not reach', () => {
  const block = 4 * (2 ** 31 - 1);
  const refusal = (exchange: Exchange) => refusalOf('mpi', exchange.collective, exchange.world);
  const even = (bytes: number) => new Exchange(uniformMatrix(4, bytes), 'float32');
  expect(refusal(even(block))).toBeUndefined();
  expect(refusal(even(block + 4))).toMatch(/32-bit/);
  // Of blocks that differ their offsets count, too.
  const half = block / 2 + 2;
  const uneven = new Exchange(
    [
      [half, half],
      [0, 4],
    ],
    'float32',
  );
  expect(refusal(uneven)).toMatch(/32-bit/);
});
