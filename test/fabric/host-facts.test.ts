import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readHostFacts, readMachine } from '../../src/fabric/host-facts.js';
import { factKeys } from '../../src/results/host-facts.js';
import { fakeSysfs } from '../topology/fake-sysfs.js';

const fake = fakeSysfs();
const { put } = fake;

function link(path: string, target: string): void {
  const from = join(fake.root, path);
  mkdirSync(dirname(from), { recursive: true });
  symlinkSync(join(fake.root, target), from);
}

/** An RDMA device with an interface of its own. */
function plugRdma(number: number, changes: Record<string, string> = {}): void {
  const pci = `devices/pci0000:00/0000:0${number + 1}:00.0`;
  const base = `class/infiniband/mlx5_${number}`;
  const files = {
    current_link_speed: '32.0 GT/s PCIe',
    current_link_width: '16',
    [`net/eth${number}/mtu`]: '9000',
    ...changes,
  };
  for (const [name, text] of Object.entries(files)) put({ [`${pci}/${name}`]: text });
  put({
    [`${base}/fw_ver`]: changes.fw_ver ?? '28.39.1002',
    [`${base}/ports/1/state`]: '4: ACTIVE',
    [`${base}/ports/1/rate`]: changes.rate ?? '400 Gb/sec (4X NDR)',
  });
  link(`${base}/device`, pci);
  link(`${pci}/driver`, 'bus/pci/drivers/mlx5_core');
}

const read = (libfabric?: string) => readHostFacts({ sysfs: fake.root, libfabric });

describe('what this host has', () => {
  beforeEach(() => {
    put({
      'class/dmi/id/product_name': 'p5.48xlarge',
      'bus/pci/drivers/mlx5_core/bind': '',
      'module/mlx5_core/version': '24.10',
      'module/nvidia/version': '570.86',
      'devices/system/clocksource/clocksource0/current_clocksource': 'tsc',
      'kernel/mm/transparent_hugepage/enabled': 'always [madvise] never',
      'kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '512',
      'kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages': '0',
    });
    for (const core of [0, 1, 2]) {
      put({ [`devices/system/cpu/cpufreq/policy${core}/scaling_governor`]: 'performance' });
    }
    for (const [bus, vendor] of ['0x10de', '0x10de', '0x1a03'].entries()) {
      const pci = `bus/pci/devices/0000:4${bus}:00.0`;
      put({ [`${pci}/class`]: '0x030200', [`${pci}/vendor`]: vendor });
      put({ [`${pci}/current_link_width`]: '16' });
    }
  });

  test('is told for each fact, once where all NICs agree', () => {
    plugRdma(0);
    plugRdma(1);
    expect(read('2.1')).toMatchObject({
      machine: 'p5.48xlarge',
      nics: '2 RDMA',
      mtu: '9000',
      link: '400 Gbps',
      pcie: '32 GT/s ×16',
      driver: 'mlx5_core 24.10',
      firmware: '28.39.1002',
      gpus: '2',
      gpuPcie: '×16',
      gpuDriver: '570.86',
      libfabric: '2.1',
      clockSource: 'tsc',
      governor: 'performance',
      hugePages: 'transparent madvise, 512 of 2048kB',
    });
    expect(Object.keys(read('2.1')).sort()).toEqual([...factKeys].sort());
  });

  test('names the NIC that is not like the others', () => {
    const names = [0, 1, 2, 3];
    for (const number of names) {
      plugRdma(number, number === 2 ? { 'net/eth2/mtu': '1500', current_link_width: '8' } : {});
    }
    expect(read()).toMatchObject({
      mtu: '9000 (3 times), 1500 (mlx5_2)',
      pcie: '32 GT/s ×16 (3 times), 32 GT/s ×8 (mlx5_2)',
      link: '400 Gbps',
    });
  });

  test.each([
    ['firmware', { fw_ver: '28.1' }, '28.1'],
    ['link', { rate: '200 Gb/sec (4X HDR)' }, '200 Gbps'],
    ['pcie', { current_link_speed: '16.0 GT/s PCIe' }, '16 GT/s ×16'],
  ] as const)('%s changes with its file', (key, changes, value) => {
    plugRdma(0, changes);
    expect(read()[key]).toBe(value);
  });
});

test('of a machine that tells nothing only the kernel and the limits are known', () => {
  const facts = read();
  expect(Object.keys(facts).sort()).toEqual(['hugePages', 'kernel', 'memlock', 'nics']);
  expect(facts.nics).toBe('none');
});

test('a lab is not the machine it runs on, nor are emulated devices', () => {
  put({
    'class/dmi/id/product_name': 'p5.48xlarge',
    'class/net/mgmt/ifalias': 'weft:management',
    'class/net/mgmt/flags': '0x1003',
  });
  expect(read().machine).toBe('Weft lab');
  expect(readMachine(fake.root)).toBe('Weft lab');
});
