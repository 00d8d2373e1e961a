import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isWeftError } from '../../src/errors.js';
import { parseHwloc, readHwlocFile } from '../../src/topology/hwloc.js';
import {
  bridge,
  device,
  efa,
  ethernet,
  gpu,
  h100,
  host,
  hwloc1,
  hwloc2,
  info,
  mlx5,
  osdev,
} from './hwloc-xml.js';
import { dgx, guest, laptop, p4d, p5, p5en, p5Nodes, p6b200 } from './machines.js';

const parse = (xml: string) => parseHwloc(xml, 'machine.xml');
const flat = (...parts: Parameters<typeof host>[1]) =>
  hwloc2([{ node: 0, cores: [0, 1], inside: [host('0000:[00-ff]', parts)] }]);

describe('a file of hwloc', () => {
  test('gives GPUs and NICs with their places, in the order of their addresses', () => {
    const { gpus, nics, numaNodes } = parse(p5);
    expect(gpus).toHaveLength(8);
    expect(gpus[0]).toEqual({
      kind: 'gpu',
      index: 0,
      pci: '0000:17:00.0',
      numaNode: 0,
      linkGbps: 504.123,
      model: 'NVIDIA H100 80GB HBM3',
    });
    expect(gpus.map(({ numaNode }) => numaNode)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(nics.filter(({ rdma }) => rdma)).toHaveLength(32);
    expect(nics[1]).toMatchObject({ name: 'rdmap0', technology: 'EFA', pci: '0000:13:00.0' });
    expect(numaNodes).toEqual([
      { node: 0, cores: [0, 1, 2, 3, 4, 5, 6, 7] },
      { node: 1, cores: [8, 9, 10, 11, 12, 13, 14, 15] },
    ]);
  });

  test('means the same in the words of hwloc 1 and hwloc 2', () => {
    expect(parse(hwloc1(p5Nodes))).toEqual(parse(hwloc2(p5Nodes)));
  });

  test.each([
    ['p5', p5, 100],
    ['p5en', p5en, 200],
    ['p6-b200', p6b200, 400],
    ['p4d', p4d, 100],
  ])('EFA devices of a %s have the rate that is published for it', (_, xml, rateGbps) => {
    const rates = parse(xml).nics.filter(({ rdma }) => rdma);
    expect(new Set(rates.map((nic) => nic.rateGbps))).toEqual(new Set([rateGbps]));
  });

  test('of any other machine the rate is not known, and never 0', () => {
    const { nics } = parse(flat(efa('0000:01:00.0', 'rdmap1'), mlx5('0000:02:00.0', 'mlx5_0')));
    expect(nics.map(({ rateGbps, linkGbps }) => [rateGbps, linkGbps])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test('NVSwitches and screens are no GPUs', () => {
    const { gpus, nics } = parse(dgx);
    expect(gpus).toHaveLength(4);
    expect(nics.map(({ name }) => name)).toEqual([
      'mlx5_0',
      'mlx5_1',
      'mlx5_2',
      'mlx5_3',
      'mlx5_4',
    ]);
  });

  test('a laptop has no GPU to compute on, and what hangs on USB is not on the bus', () => {
    const { gpus, nics } = parse(laptop);
    expect(gpus).toEqual([]);
    expect(nics.map(({ name }) => name)).toEqual(['wlp1s0']);
  });

  test.each([
    ['a card of NVIDIA that also drives a screen', '0300 10de:2484', []],
    ['an accelerator of AMD', '1200 1002:74a1', []],
    ['a display controller of AMD', '0380 1002:740f', []],
    ['an Instinct that says it drives a screen', '0300 1002:66a1', [osdev('card1', 1)]],
    ['a card of AMD that ROCm knows', '0300 1002:73bf', [osdev('rsmi0', 1)]],
    ['a card of Intel that Level Zero knows', '0380 8086:0bd5', [osdev('ze0', 5)]],
  ])('%s is a GPU', (_, type, inside) => {
    expect(parse(flat(device('0000:01:00.0', type, { inside }))).gpus).toHaveLength(1);
  });

  test.each([
    ['ASPEED', '0300 1a03:2000'],
    ['Matrox', '0300 102b:0536'],
    ['an old AMD', '0300 1002:515e'],
    ['an audio function of NVIDIA', '0403 10de:22ba'],
    ['an NVSwitch', '0680 10de:22a3'],
  ])('%s is none', (_, type) => {
    const inside = [osdev('card0', 1), osdev('renderD128', 1)];
    expect(parse(flat(device('0000:01:00.0', type, { inside }))).gpus).toEqual([]);
  });

  test('without names of the system, devices are known by their numbers', () => {
    const { nics, gpus } = parse(
      flat(
        device('0000:01:00.0', '0200 1d0f:efa2'),
        device('0000:02:00.0', '0207 15b3:1021'),
        device('0000:03:00.0', '0200 15b3:101d'),
        device('0000:04:00.0', '0200 8086:1592'),
        gpu('0000:05:00.0'),
      ),
    );
    expect(nics.map(({ name, technology }) => [name, technology])).toEqual([
      ['0000:01:00.0', 'EFA'],
      ['0000:02:00.0', 'InfiniBand'],
      ['0000:03:00.0', 'RDMA'],
      ['0000:04:00.0', 'Ethernet'],
    ]);
    expect(gpus).toMatchObject([{ pci: '0000:05:00.0', model: undefined }]);
  });

  test('an RDMA device goes by that name and keeps its interface’s', () => {
    const inside = [osdev('ens1', 2), osdev('mlx5_0', 3, [info('Port1State', '1')])];
    const { nics } = parse(flat(device('0000:01:00.0', '0200 15b3:1021', { inside })));
    expect(nics).toMatchObject([{ name: 'mlx5_0', otherNames: ['ens1'], rdma: true, up: false }]);
  });

  test('Slingshot is RDMA, though it goes by the name of an interface', () => {
    const { nics } = parse(flat(ethernet('0000:01:00.0', 'hsi0', '17db:0501')));
    expect(nics).toMatchObject([{ name: 'hsi0', rdma: true, technology: 'Slingshot' }]);
  });

  test('from hwloc 3 on the kind of a device is a set of bits', () => {
    const inside = [osdev('ens1', 1 << 4), osdev('mlx5_0', 1 << 5)];
    const xml = flat(device('0000:01:00.0', '0200 15b3:1021', { inside }));
    expect(parse(xml.replace('version="2.0"', 'version="3.0"')).nics).toMatchObject([
      { name: 'mlx5_0', otherNames: ['ens1'], rdma: true },
    ]);
  });

  test('a virtual function beside its card is a shadow; in a guest it is the NIC', () => {
    const virtual = (pci: string) =>
      device(pci, '0207 15b3:101e', {
        inside: [info('PCIDevice', 'MT28908 Family [ConnectX-6 Virtual Function]')],
      });
    const beside = parse(flat(mlx5('0000:01:00.0', 'mlx5_0'), virtual('0000:01:00.1')));
    expect(beside.nics.map(({ shadow }) => shadow)).toEqual([false, true]);
    expect(parse(flat(virtual('0000:01:00.1'))).nics[0]!.shadow).toBe(false);
  });

  test('devices may hang below the machine, a group, or no bridge at all', () => {
    const xml = hwloc2(
      [
        { node: 0, cores: [0], inside: [gpu('0000:01:00.0')] },
        { node: 1, cores: [1], inside: [] },
      ],
      [host('10000:[e0-e1]', [efa('10000:e1:00.0', 'rdmap1')]), gpu('0000:02:00.0')],
    );
    const { gpus, nics } = parse(xml);
    expect(gpus.map(({ pci, numaNode }) => [pci, numaNode])).toEqual([
      ['0000:01:00.0', 0],
      ['0000:02:00.0', undefined],
    ]);
    expect(nics).toMatchObject([{ pci: '10000:e1:00.0', numaNode: undefined }]);
  });

  test('memory without cores is nobody’s place', () => {
    const xml = hwloc2([
      { node: 0, cores: [0, 1], inside: [h100('0000:01:00.0')] },
      { node: 8, cores: [], inside: [] },
    ]);
    const near = xml.replace('type="Package" os_index="0" cpuset="0x3" nodeset="0x1"', (found) =>
      found.replace('nodeset="0x1"', 'nodeset="0x101"'),
    );
    expect(near).not.toBe(xml);
    expect(parse(near).gpus[0]!.numaNode).toBe(0);
  });

  test('a guest with a domain for every device is read', () => {
    expect(parse(guest).gpus.map(({ pci }) => pci)).toEqual([
      '0001:00:00.0',
      '0002:00:00.0',
      '0003:00:00.0',
      '0004:00:00.0',
    ]);
  });

  test('without devices there are none', () => {
    expect(parse(hwloc2([{ node: 0, cores: [0], inside: [] }]))).toMatchObject({
      roots: [],
      gpus: [],
      nics: [],
    });
  });

  test('thousands of devices are no trouble', () => {
    const hex = (value: number) => value.toString(16).padStart(2, '0');
    const many = Array.from({ length: 200 }, (_, bus) =>
      bridge(
        `0000:00:${hex(bus % 32)}.${bus >> 5}`,
        Array.from({ length: 32 }, (_, i) =>
          ethernet(`0000:${hex(bus)}:${hex(i)}.0`, `e${bus}_${i}`),
        ),
      ),
    );
    expect(parse(flat(...many)).nics).toHaveLength(6400);
  });
});

describe('a file that is something else', () => {
  const errorOf = (run: () => unknown): unknown => {
    try {
      run();
      return undefined;
    } catch (error) {
      return error;
    }
  };

  test.each([
    ['NCCL’s own description', '<system version="1"><cpu numaid="0"/></system>', '<system>'],
    [
      'a topology without a machine',
      '<topology version="2.0"></topology>',
      'contains no hwloc topology',
    ],
    ['half a file', p5.slice(0, p5.length / 2), 'not well-formed'],
  ])('%s is refused with a hint', (_, xml, reason) => {
    const error = errorOf(() => parse(xml));
    expect(isWeftError(error, 'BAD_USAGE') && error.hint).toContain('lstopo --of xml');
    expect((error as Error).message).toContain('machine.xml');
    expect((error as Error).message).toContain(reason);
  });

  test('a missing file, or a folder, is named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weft-hwloc-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(() => readHwlocFile(join(folder, 'none.xml'))).toThrow(/none\.xml cannot be read/);
    expect(() => readHwlocFile(folder)).toThrow(/cannot be read/);
    writeFileSync(join(folder, 'p5.xml'), p5);
    expect(readHwlocFile(join(folder, 'p5.xml')).gpus).toHaveLength(8);
  });
});
