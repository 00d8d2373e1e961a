import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listNics, parseRdmaRate } from '../../src/fabric/nics.js';
import { fakeSysfs } from '../topology/fake-sysfs.js';

const fake = fakeSysfs();
const { put } = fake;

/** A device on the PCIe bus, and the class entry that points to it. */
function plug(entry: string, pci: string, numaNode: number): void {
  put({ [`devices/pci0000:00/${pci}/numa_node`]: `${numaNode}` });
  mkdirSync(join(fake.root, entry), { recursive: true });
  symlinkSync(join(fake.root, 'devices/pci0000:00', pci), join(fake.root, entry, 'device'));
}

describe('NICs', () => {
  test('an EFA device has its port’s rate, its place on the bus and its NUMA node', () => {
    put({
      'class/infiniband/rdmap79s0/ports/1/rate': '100 Gb/sec (4X EDR)',
      'class/infiniband/rdmap79s0/ports/1/state': '4: ACTIVE',
    });
    plug('class/infiniband/rdmap79s0', '0000:4f:00.0', 1);
    expect(listNics(fake.root)).toEqual([
      {
        name: 'rdmap79s0',
        kind: 'rdma',
        addresses: [],
        loopback: false,
        up: true,
        rateGbps: 100,
        pci: '0000:4f:00.0',
        numaNode: 1,
      },
    ]);
  });

  test('an RDMA device whose port is down is down', () => {
    put({ 'class/infiniband/mlx5_0/ports/1/state': '1: DOWN' });
    expect(listNics(fake.root)[0]).toMatchObject({
      up: false,
      rateGbps: undefined,
      pci: undefined,
    });
  });

  test('an Ethernet interface has its speed', () => {
    put({
      'class/net/ens5/speed': '25000',
      'class/net/ens5/type': '1',
      'class/net/ens5/operstate': 'up',
    });
    plug('class/net/ens5', '0000:00:05.0', -1);
    expect(listNics(fake.root)[0]).toMatchObject({
      kind: 'ethernet',
      up: true,
      rateGbps: 25,
      pci: '0000:00:05.0',
      numaNode: undefined,
      loopback: false,
    });
  });

  test('a virtual interface that tells -1, or nothing, has no rate', () => {
    put({ 'class/net/veth0/speed': '-1', 'class/net/veth0/operstate': 'up' });
    put({ 'class/net/veth1/operstate': 'down' });
    expect(listNics(fake.root).map(({ name, rateGbps, up }) => ({ name, rateGbps, up }))).toEqual([
      { name: 'veth0', rateGbps: undefined, up: true },
      { name: 'veth1', rateGbps: undefined, up: false },
    ]);
  });

  test('loopback is known by its type', () => {
    put({ 'class/net/lo/type': '772', 'class/net/lo/operstate': 'unknown' });
    expect(listNics(fake.root)[0]).toMatchObject({ loopback: true });
  });

  test('RDMA devices come first, each kind by name', () => {
    for (const name of ['eth1', 'eth0']) put({ [`class/net/${name}/type`]: '1' });
    for (const name of ['rdmap2', 'rdmap1']) {
      put({ [`class/infiniband/${name}/ports/1/rate`]: '200 Gb/sec (4X HDR)' });
    }
    expect(listNics(fake.root).map(({ name }) => name)).toEqual([
      'rdmap1',
      'rdmap2',
      'eth0',
      'eth1',
    ]);
  });

  test('a machine without fake.root has none', () => {
    expect(listNics(join(fake.root, 'none'))).toEqual([]);
  });

  test('this machine has a loopback with an address', () => {
    const loopback = listNics().find((nic) => nic.loopback);
    expect(loopback).toMatchObject({ name: 'lo', up: true });
    expect(loopback?.addresses).toContain('127.0.0.1');
  });
});

test.each([
  ['100 Gb/sec (4X EDR)', 100],
  ['2.5 Gb/sec (1X SDR)', 2.5],
  ['', undefined],
  ['fast', undefined],
  [undefined, undefined],
])('the rate %j is %j Gb/s', (text, rate) => {
  expect(parseRdmaRate(text)).toBe(rate);
});
