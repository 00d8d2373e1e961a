import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Faults } from '../../../src/lab/efa/tree.js';
import { Devices, eventually, opcodes } from './peers.js';

const statuses = (completions: readonly { status: number }[]) => [
  ...new Set(completions.map(({ status }) => status)),
];

async function faultyPair(first: Faults, second: Faults = {}) {
  const devices = new Devices(2);
  devices.faults(0, first);
  devices.faults(1, second);
  const [a, b] = await devices.pair();
  return { devices, a, b, [Symbol.asyncDispose]: () => devices[Symbol.asyncDispose]() };
}

test('a device that does not open says so', async () => {
  await using devices = new Devices(1, { faults: { open: '1' } });
  await expect(devices.open(0)).rejects.toThrow('failed open: Input/output error');
});

test('errors: every request completes with the status', async () => {
  await using link = await faultyPair({ error: '12' });
  await link.a.ask('write 4096 10 0');
  expect(statuses(await link.a.completions(10))).toEqual([12]);
  await eventually(() => expect(link.devices.counter(0, 'rdma_write_wr_err')).toBe(10));
});

test('receivers are not ready now and then: sends are tried again', async () => {
  await using link = await faultyPair({}, { rnr: '30' });
  await link.b.ask('receive 100 500');
  await link.a.ask('send 100 500 0');
  const sent = await link.a.completions(500);
  expect(sent).toHaveLength(500);
  expect(sent.filter(({ status }) => status === 0).length).toBeGreaterThan(450);
  await eventually(() => expect(link.devices.counter(1, 'rx_drops')).toBeGreaterThan(100));
});

test('a receiver that is never ready ends the send with status 10', async () => {
  await using link = await faultyPair({});
  await link.a.ask('send 100 5 0');
  expect(statuses(await link.a.completions(5))).toEqual([10]);
});

test('a delay holds requests back', async () => {
  await using link = await faultyPair({ delay_us: '200000' });
  const before = performance.now();
  await link.a.ask('write 4096 1 0');
  expect(await link.a.completions(1)).toHaveLength(1);
  expect(performance.now() - before).toBeGreaterThan(195);
});

test('corruption flips one byte in every n-th segment', async () => {
  await using link = await faultyPair({ corrupt: '4' });
  await link.b.ask('wipe');
  await link.a.ask('write 8000 40 0');
  expect(statuses(await link.a.completions(40))).toEqual([0]);
  expect(await link.b.ask('check 320000')).toBe('10');
});

test('an early immediate comes before its data', async () => {
  await using link = await faultyPair({}, { early_immediate: '1' });
  await link.b.ask('wipe');
  await link.a.ask('immediate 40000 10 0');
  const arrived = await link.b.completions(10, 10_000, 'look');
  expect(arrived.filter(({ opcode }) => opcode === opcodes.immediate)).toHaveLength(10);
  expect(arrived.some(({ missing }) => missing! > 0)).toBe(true);
  expect(statuses(await link.a.completions(10))).toEqual([0]);
  expect(await link.b.ask('check 400000')).toBe('0');
});

test('overrun refuses posts as a full queue does', async () => {
  await using link = await faultyPair({ overrun: '1' });
  const [posted, error] = (await link.a.ask('write 64 200 0')).split(' ').map(Number);
  expect(posted).toBeLessThan(200);
  expect(error).toBe(12);
});

test('lost segments are sent again and counted', async () => {
  await using link = await faultyPair({ drop: '10' });
  await link.b.ask('wipe');
  await link.a.ask('write 1000000 8 0');
  expect(statuses(await link.a.completions(8))).toEqual([0]);
  expect(await link.b.ask('check 8000000')).toBe('0');
  await eventually(() => {
    const again = link.devices.counter(0, 'retrans_bytes');
    expect(link.devices.counter(0, 'retrans_pkts')).toBeGreaterThan(20);
    expect(link.devices.counter(0, 'tx_bytes')).toBe(8_000_000 + again);
    expect(link.devices.counter(1, 'rx_bytes')).toBe(8_000_000);
  });
});

describe('silence', () => {
  test('nothing completes until it ends', async () => {
    await using link = await faultyPair({});
    link.devices.faults(0, { silent: '1' });
    await sleep(30);
    await link.a.ask('write 4096 5 0');
    expect(await link.a.completions(5, 300)).toEqual([]);
    link.devices.faults(0, {});
    expect(statuses(await link.a.completions(5))).toEqual([0]);
  });

  test('of the target ends writes as unresponsive, and is counted', async () => {
    await using link = await faultyPair({});
    link.devices.faults(1, { silent: '1' });
    await sleep(30);
    await link.a.ask('write 4096 5 0');
    expect(statuses(await link.a.completions(5, 12_000))).toEqual([13]);
    await eventually(() => expect(link.devices.counter(0, 'unresponsive_remote_events')).toBe(1));
  });

  test('a silent device closes at once', async () => {
    await using link = await faultyPair({});
    link.devices.faults(0, { silent: '1' });
    await sleep(30);
    await link.a.ask('write 1000000 10 0');
    expect(Number(await link.a.ask('close'))).toBeLessThan(1000);
  });
});

test('a killed peer ends writes at once', async () => {
  await using link = await faultyPair({});
  await link.a.ask('write 4096 5 0');
  expect(statuses(await link.a.completions(5))).toEqual([0]);
  link.b.process.kill('SIGKILL');
  await sleep(50);
  await link.a.ask('write 4096 5 0');
  expect(statuses(await link.a.completions(5, 2000))).toEqual([13]);
  expect(Number(await link.a.ask('close'))).toBeLessThan(1000);
});
