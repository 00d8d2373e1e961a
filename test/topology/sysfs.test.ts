import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listNics } from '../../src/fabric/nics.js';
import { slowestLinkGbps } from '../../src/gpu/ipc.js';
import { assignNics } from '../../src/topology/nearest.js';
import { readSysfs } from '../../src/topology/sysfs.js';
import { fakeSysfs } from './fake-sysfs.js';

const fake = fakeSysfs();
const { put } = fake;

interface Plugged {
  readonly type: string;
  readonly node?: number;
  readonly files?: Record<string, string>;
}

/** A device at a path below `devices/`, and its entry on the bus. */
function plug(path: string, { type, node = -1, files = {} }: Plugged): string {
  const [classCode, vendor, device] = type.split(/[ :]/);
  const all = {
    class: `0x${classCode}00`,
    vendor: `0x${vendor}`,
    device: `0x${device}`,
    numa_node: String(node),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) put({ [`devices/${path}/${name}`]: text });
  const entry = join(fake.root, 'bus/pci/devices', basename(path));
  mkdirSync(dirname(entry), { recursive: true });
  symlinkSync(join(fake.root, 'devices', path), entry);
  return join(fake.root, 'devices', path);
}

function name(entry: string, path: string, files: Record<string, string> = {}): void {
  mkdirSync(join(fake.root, 'class', entry), { recursive: true });
  for (const [file, text] of Object.entries(files)) put({ [`class/${entry}/${file}`]: text });
  symlinkSync(join(fake.root, 'devices', path), join(fake.root, 'class', entry, 'device'));
}

const read = () => readSysfs({ nics: listNics(fake.root), sysfs: fake.root });

const port = { 'ports/1/rate': '100 Gb/sec (4X EDR)', 'ports/1/state': '4: ACTIVE' };
const bridge = '0604 1000:c010';

describe('sysfs', () => {
  test('the real paths of devices are the tree', () => {
    const above = 'pci0000:44/0000:44:00.0/0000:45:00.0';
    plug('pci0000:44/0000:44:00.0', { type: bridge, node: 1 });
    plug(above, { type: bridge, node: 1 });
    plug(`${above}/0000:46:00.0`, { type: '0302 10de:2330', node: 1 });
    plug(`${above}/0000:47:00.0`, { type: '0200 1d0f:efa1', node: 1 });
    plug('pci0000:55/0000:55:00.0', { type: '0200 1d0f:efa1', node: 0 });
    name('infiniband/rdmap71s0', `${above}/0000:47:00.0`, port);
    name('infiniband/rdmap85s0', 'pci0000:55/0000:55:00.0', port);
    put({ 'devices/system/node/node0/cpulist': '0-1' });
    put({ 'devices/system/node/node1/cpulist': '2-3' });

    const topology = read();
    expect(topology.numaNodes).toEqual([
      { node: 0, cores: [0, 1] },
      { node: 1, cores: [2, 3] },
    ]);
    expect(topology.roots).toMatchObject([
      {
        address: '0000:44',
        host: true,
        numaNode: 1,
        children: [
          { address: '0000:44:00.0', host: false, children: [{ address: '0000:45:00.0' }] },
        ],
      },
      { address: '0000:55', host: true, numaNode: 0 },
    ]);
    expect(topology.nics).toMatchObject([
      { name: 'rdmap71s0', technology: 'EFA', rateGbps: 100, numaNode: 1, up: true },
      { name: 'rdmap85s0', numaNode: 0 },
    ]);
    expect(assignNics(topology)).toMatchObject([
      {
        nics: [{ name: 'rdmap71s0' }],
        nearness: { by: 'bridge', bridge: { address: '0000:45:00.0' } },
      },
    ]);
  });

  test('a link is as fast as both ends can be, and as wide as it is now', () => {
    const idle = { current_link_speed: '2.5 GT/s PCIe', current_link_width: '16' };
    plug('pci0000:00/0000:00:01.0', { type: bridge, files: { max_link_speed: '16.0 GT/s PCIe' } });
    plug('pci0000:00/0000:00:01.0/0000:01:00.0', {
      type: '0302 10de:2330',
      files: { ...idle, max_link_speed: '32.0 GT/s PCIe' },
    });
    plug('pci0000:00/0000:00:02.0', {
      type: '0302 10de:2330',
      files: { max_link_speed: 'Unknown', current_link_width: '0' },
    });
    const links = read().gpus.map(({ pci, linkGbps }) => [pci, linkGbps]);
    expect(links).toEqual([
      ['0000:00:02.0', undefined],
      ['0000:01:00.0', 252.062],
    ]);
  });

  test('between GPUs the slowest of their links counts, where all are known', () => {
    const gpu = (address: string, speed: string) =>
      plug(`pci0000:00/${address}`, {
        type: '0302 10de:2330',
        files: { max_link_speed: speed, current_link_width: '16' },
      });
    gpu('0000:00:01.0', '32.0 GT/s PCIe');
    gpu('0000:00:02.0', '16.0 GT/s PCIe');
    gpu('0000:00:03.0', 'Unknown');
    const slowest = (...addresses: string[]) => slowestLinkGbps(read(), addresses);
    expect(slowest('0000:00:01.0', '00:02.0')).toBe(252.062);
    expect(slowest('0000:00:01.0', '0000:00:03.0')).toBeUndefined();
    expect(slowest('0000:00:01.0', '0000:00:09.0')).toBeUndefined();
  });

  test('host bridges may lie below something else, also below a device', () => {
    plug('LNXSYSTM:00/VMBUS:01/abcd/pci0001:00/0001:00:00.0', { type: '0302 10de:2330' });
    plug('pci0000:00/0000:00:0e.0', { type: '0104 8086:467f' });
    plug('pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0', { type: '0108 144d:a80a' });
    const { roots, gpus } = read();
    expect(gpus).toMatchObject([{ pci: '0001:00:00.0' }]);
    expect(roots).toMatchObject([
      { address: '0000:00', children: [{ address: '0000:00:0e.0', children: [{ host: true }] }] },
      { address: '0001:00' },
    ]);
  });

  test('a virtual function of a card that is here is a shadow, and of a GPU nothing', () => {
    const card = plug('pci0000:00/0000:01:00.0', { type: '0200 15b3:1021' });
    const own = plug('pci0000:00/0000:02:00.0', { type: '0302 10de:2330' });
    const nic = plug('pci0000:00/0000:01:00.1', { type: '0200 15b3:101e' });
    const slice = plug('pci0000:00/0000:02:00.4', { type: '0302 10de:2330' });
    symlinkSync(card, join(nic, 'physfn'));
    symlinkSync(own, join(slice, 'physfn'));
    const { nics, gpus } = read();
    expect(nics.map(({ pci, shadow }) => [pci, shadow])).toEqual([
      ['0000:01:00.0', false],
      ['0000:01:00.1', true],
    ]);
    expect(gpus.map(({ pci }) => pci)).toEqual(['0000:02:00.0']);
  });

  test('a virtio interface has the address of its device', () => {
    plug('pci0000:00/0000:00:03.0', { type: '0200 1af4:1041' });
    put({ 'devices/pci0000:00/0000:00:03.0/virtio2/vendor': '0x1af4' });
    name('net/eth0', 'pci0000:00/0000:00:03.0/virtio2');
    expect(read().nics).toMatchObject([{ name: 'eth0', pci: '0000:00:03.0', rdma: false }]);
  });

  test('threads of one core stand together', () => {
    put({ 'devices/system/node/node0/cpulist': '0-3' });
    for (const [core, siblings] of [
      [0, '0,2'],
      [1, '1,3'],
      [2, '0,2'],
      [3, '1,3'],
    ]) {
      put({ [`devices/system/cpu/cpu${core}/topology/thread_siblings_list`]: `${siblings}` });
    }
    expect(read().numaNodes).toEqual([{ node: 0, cores: [0, 2, 1, 3] }]);
  });

  test('where firmware tells no node and there is one only, that is it', () => {
    put({ 'devices/system/node/node0/cpulist': '0-3' });
    plug('pci0000:00/0000:01:00.0', { type: '0302 10de:2330', node: -1 });
    expect(read().gpus[0]!.numaNode).toBe(0);
  });

  test('a GPU that CUDA shows and the bus does not is there, near nothing in particular', () => {
    plug('pci0000:00/0000:01:00.0', { type: '0302 10de:2330', node: 1 });
    const gpus = ['00000000:01:00.0', '0000:2A:00.0'];
    expect(readSysfs({ nics: [], gpus, sysfs: fake.root }).gpus).toMatchObject([
      { index: 0, pci: '0000:01:00.0', numaNode: 1 },
      { index: 1, pci: '0000:2a:00.0', numaNode: undefined },
    ]);
  });

  test('without a bus there is nothing', () => {
    expect(read()).toEqual({ numaNodes: [], roots: [], gpus: [], nics: [] });
  });
});
