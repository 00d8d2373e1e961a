import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { efaLines, gpuPostingLines, portWords } from '../../src/cli/info-rdma.js';
import { listNics } from '../../src/fabric/nics.js';
import { efaFacts, type RdmaFacts, rdmaFacts } from '../../src/fabric/rdma-facts.js';
import { fakeSysfs } from '../topology/fake-sysfs.js';

const fake = fakeSysfs();
const { put } = fake;

const nothing = { anyhow: [], unsolicited: [] };
const device = 'class/infiniband/mlx5_0';
const gid = (end: string) => `0000:0000:0000:0000:0000:${end}`;

describe('a RoCE device', () => {
  beforeEach(() => {
    put({
      [`${device}/ports/1/state`]: '2: INIT',
      [`${device}/ports/1/link_layer`]: 'Ethernet',
      [`${device}/ports/1/gids/0`]: gid('0000:0000:0000'),
      [`${device}/ports/1/gids/3`]: gid('ffff:0a00:0001'),
      [`${device}/ports/1/gids/10`]: gid('ffff:0a00:0001'),
      [`${device}/ports/1/gid_attrs/types/3`]: 'RoCE v2',
    });
  });

  test('has GIDs by index and type; those that are not set are left out', () => {
    expect(rdmaFacts('mlx5_0', nothing, fake.root)).toMatchObject({
      portState: '2: INIT',
      linkLayer: 'Ethernet',
      gids: [
        { index: 3, gid: gid('ffff:0a00:0001'), type: 'RoCE v2' },
        { index: 10, type: undefined },
      ],
    });
  });

  test('its line says which GID is RoCE v2, and why the port is down', () => {
    const [nic] = listNics(fake.root);
    const facts = rdmaFacts('mlx5_0', nothing, fake.root);
    expect(portWords({ ...nic!, device: facts })).toEqual(['port 2: INIT', 'GID 3 RoCE v2']);
  });

  test('has rate and burst of the interface below it, where a shaper made them', () => {
    const pci = join(fake.root, 'devices/pci0000:00/0000:01:00.0');
    mkdirSync(join(pci, 'net/nic0'), { recursive: true });
    symlinkSync(pci, join(fake.root, device, 'device'));
    put({
      [`${device}/ports/1/rate`]: '100 Gb/sec (4X EDR)',
      'class/net/nic0/ifalias': 'weft:rate=250000000,burst=20048',
    });
    expect(listNics(fake.root)[0]).toMatchObject({ rateGbps: 0.25, burstBytes: 20_048 });
  });
});

describe('EFA', () => {
  const installer = () => join(fake.root, 'installed');
  const nvidia = () => join(fake.root, 'params');
  const facts = () => efaFacts({ installer: installer(), nvidia: nvidia() }, fake.root);

  test('GPUs can post where driver, GDRCopy and the override are new enough', () => {
    put({
      installed: '# EFA installer version: 1.43.2\n# Debug packages installed: no',
      params: 'RegistryDwords: "PeerMappingOverride=1;"',
      'module/efa/version': '3.10.0g',
      'module/gdrdrv/version': '2.5.1',
    });
    expect(facts()).toMatchObject({ installer: '1.43.2', driver: '3.10.0g' });
    expect(gpuPostingLines(facts())).toEqual(['possible on efa-direct']);
  });

  test('what is missing for that is named, with what is there', () => {
    put({ 'module/efa/version': '2.17.2g', params: 'PeerMappingOverride=0' });
    expect(facts().installer).toBeUndefined();
    expect(gpuPostingLines(facts())).toEqual([
      'needs efa.ko 3.3 (found 2.17.2g)',
      'needs GDRCopy 2.5 (not found)',
      'needs PeerMappingOverride 1 (found 0)',
    ]);
  });

  test('devices that can do the same stand on one line of 65 columns', () => {
    const nic = (name: string, device: Partial<RdmaFacts>) => ({
      ...({ name, kind: 'rdma', addresses: [], loopback: false, up: true } as const),
      ...{ rateGbps: 100, pci: undefined, numaNode: undefined },
      device: { driver: 'efa', deviceId: '0xefa2', gids: [], maxMessageBytes: 8928, ...device },
    });
    const can = { rdma: true, unsolicitedWrites: false };
    const nics = [nic('a', can), nic('b', can), { ...nic('c', {}), emulated: true }];
    const lines = efaLines({ nics, efa: facts() });
    expect(lines).toEqual([
      '2 × device 0xefa2, messages up to 8.7K',
      'RDMA read and write, no unsolicited writes',
      '1 × emulated device 0xefa2, messages up to 8.7K',
      'RDMA read and write: unknown (libfabric 2.1 or newer reports it)',
      'installer not found, driver not loaded',
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(65);
  });
});
