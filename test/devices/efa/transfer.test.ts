import { describe, expect, test } from 'vitest';
import { Devices, eventually, opcodes } from './peers.js';

const ids = (completions: readonly { id: number }[]) => completions.map(({ id }) => id);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

describe('between two devices', () => {
  test('writes arrive whole and out of order, each with its immediate after its data', async () => {
    await using devices = new Devices(2);
    const [a, b] = await devices.pair();
    await b.ask('wipe');
    expect(await a.ask('immediate 40000 200 0')).toBe('200 0');
    const arrived = await b.completions(200, 10_000, 'look');
    expect(arrived.filter(({ opcode }) => opcode === opcodes.immediate)).toHaveLength(200);
    expect(sorted(ids(arrived))).toEqual(upTo(200));
    expect(ids(arrived)).not.toEqual(upTo(200));
    expect(arrived.filter(({ missing }) => missing !== 0)).toEqual([]);
    expect(await b.ask('check 8000000')).toBe('0');
    const written = await a.completions(200);
    expect(written.every(({ opcode, status }) => opcode === opcodes.write && status === 0)).toBe(
      true,
    );
  });

  test('an ordered device keeps the order of posting', async () => {
    await using devices = new Devices(2, { ordered: true });
    const [a, b] = await devices.pair();
    await a.ask('immediate 40000 100 0');
    expect(ids(await b.completions(100))).toEqual(upTo(100));
  });

  test('sends find the receives, in any order', async () => {
    await using devices = new Devices(2);
    const [a, b] = await devices.pair();
    await b.ask('receive 8000 100');
    expect(await a.ask('send 8000 100 0')).toBe('100 0');
    expect(sorted(ids(await b.completions(100)))).toEqual(upTo(100));
    const sent = await a.completions(100);
    expect(sent.map(({ status }) => status)).toEqual(upTo(100).map(() => 0));
    expect(ids(sent)).not.toEqual(upTo(100));
  });

  test('reads bring the bytes of the other side', async () => {
    await using devices = new Devices(2);
    const [a] = await devices.pair();
    await a.ask('wipe');
    expect(await a.ask('read 1000000 8 0')).toBe('8 0');
    expect(sorted(ids(await a.completions(8)))).toEqual(upTo(8));
    expect(await a.ask('check 8000000')).toBe('0');
  });

  test('counters hold every byte and request, no more', async () => {
    await using devices = new Devices(2);
    const [a, b] = await devices.pair();
    await b.ask('receive 8000 10');
    await a.ask('send 8000 10 0');
    await a.completions(10);
    await a.ask('write 100000 20 0');
    await a.completions(20);
    await a.ask('read 50000 5 0');
    await a.completions(5);
    const of = (index: number, ...names: string[]) =>
      names.map((name) => devices.counter(index, name));
    await eventually(() => {
      expect(of(0, 'send_wrs', 'send_bytes')).toEqual([10, 80_000]);
      expect(of(1, 'recv_wrs', 'recv_bytes')).toEqual([10, 80_000]);
      expect(of(0, 'rdma_write_wrs', 'rdma_write_bytes')).toEqual([20, 2_000_000]);
      expect(of(1, 'rdma_write_recv_bytes')).toEqual([2_000_000]);
      expect(of(0, 'rdma_read_wrs', 'rdma_read_bytes')).toEqual([5, 250_000]);
      expect(of(1, 'rdma_read_resp_bytes')).toEqual([250_000]);
      // 10 sends of one segment, 20 writes of 12, 5 requests; and 5 answers of 6 the other way.
      expect(of(0, 'tx_bytes', 'tx_pkts')).toEqual([2_080_000, 10 + 20 * 12 + 5]);
      expect(of(1, 'tx_bytes', 'tx_pkts')).toEqual([250_000, 30]);
      expect(of(1, 'rx_bytes', 'rx_pkts')).toEqual([2_080_000, 255]);
      expect(of(0, 'retrans_pkts', 'rdma_write_wr_err')).toEqual([0, 0]);
    });
  });
});

test('processes on one device reach each other, and their counters add up', async () => {
  await using devices = new Devices(1);
  const [a, b] = await devices.pair(0, 0);
  await Promise.all([a.ask('write 100000 10 0'), b.ask('write 100000 10 0')]);
  await Promise.all([a.completions(10), b.completions(10)]);
  await eventually(() => {
    expect(devices.counter(0, 'rdma_write_bytes')).toBe(2_000_000);
    expect(devices.counter(0, 'rdma_write_wrs')).toBe(20);
  });
});

test('a queue takes as many requests as it has places', async () => {
  await using devices = new Devices(2);
  const [a] = await devices.pair();
  expect(await a.ask('write 64 2000 0')).toBe('1024 12');
  expect(await a.completions(1024)).toHaveLength(1024);
  expect(await a.ask('write 64 10 0')).toBe('10 0');
});

test('memory of another key is refused', async () => {
  await using devices = new Devices(2);
  const [a, b] = await devices.pair();
  const [gid, number, address, key] = (await b.opened).split(' ');
  await a.ask(`meet ${gid} ${number} ${address} ${Number(key) + 1}`);
  await a.ask('write 100000 1 0');
  await a.ask('read 100000 1 0');
  const statuses = (await a.completions(2)).map(({ status }) => status);
  expect(statuses).toEqual([7, 7]);
});

test('a write beyond the registered memory of its source is refused locally', async () => {
  await using devices = new Devices(2);
  const [a] = await devices.pair();
  await a.ask(`write 4096 2 ${16 * 1024 * 1024 - 4096}`);
  const statuses = (await a.completions(2)).map(({ status }) => status);
  expect(sorted(statuses)).toEqual([0, 5]);
});

test('a peer without an address handle for the writer refuses it', async () => {
  await using devices = new Devices(2);
  const [a, b] = await Promise.all([devices.open(0), devices.open(1)]);
  await a.ask(`meet ${await b.opened}`);
  await a.ask('write 4096 1 0');
  expect((await a.completions(1))[0]).toMatchObject({ status: 14 });
});
