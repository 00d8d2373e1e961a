import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatList, parseBitmap, parseList } from '../../src/topology/cpu-set.js';
import { drawTopology } from '../../src/topology/draw.js';
import { parseHwloc } from '../../src/topology/hwloc.js';
import { assignNics, railNics } from '../../src/topology/nearest.js';
import { nicTable } from '../../src/topology/nic-table.js';
import { comparePci, pciAddress } from '../../src/topology/pci-address.js';
import { arbitraryTopology } from './arbitrary.js';
import { dgx, guest, laptop, p5 } from './machines.js';

const parse = (xml: string) => parseHwloc(xml, 'machine.xml');
const tableOf = (xml: string, width?: number) => {
  const topology = parse(xml);
  const options = width === undefined ? {} : { width };
  return nicTable(assignNics(topology), railNics(topology), options);
};

describe('the drawing', () => {
  test('shows where paths part, and counts the rest', () => {
    expect(drawTopology(parse(dgx))).toEqual([
      'NUMA node 0, cores 0-3',
      '├─ host bridge 0000:10 › 0000:10:00.0',
      '│  ├─ GPU 0         0000:13:00.0',
      '│  ├─ GPU 1         0000:15:00.0',
      '│  ├─ 2 InfiniBand  mlx5_0 mlx5_1',
      '│  └─ other         1 NVSwitch',
      '├─ host bridge 0000:40',
      '│  ├─ InfiniBand  mlx5_2',
      '│  └─ other       1 NVMe',
      '└─ other  1 display',
      'NUMA node 1, cores 4-7',
      '└─ host bridge 0000:80 › 0000:80:00.0',
      '   ├─ GPU 2         0000:83:00.0',
      '   ├─ GPU 3         0000:84:00.0',
      '   └─ 2 InfiniBand  mlx5_3 mlx5_4',
    ]);
  });

  test('is what the documentation shows', () => {
    const docs = readFileSync(new URL('../../docs/topology.md', import.meta.url), 'utf8');
    expect(docs).toContain(
      `${drawTopology(parse(dgx)).join('\n')}\n\n${tableOf(dgx).join('\n')}\n`,
    );
  });

  test('says models, rates and links', () => {
    const drawn = drawTopology(parse(p5)).slice(0, 5);
    expect(drawn).toEqual([
      'NUMA node 0, cores 0-7',
      '├─ host bridge 0000:10 › 0000:10:00.0',
      '│  ├─ GPU 0  0000:17:00.0 NVIDIA H100 80GB HBM3, link 504 Gbps',
      '│  ├─ 4 EFA  rdmap0 rdmap1 rdmap2 rdmap3, 100 Gbps each',
      '│  └─ other  1 Ethernet (eth0)',
    ]);
  });

  test('can be made of plain letters', () => {
    const text = drawTopology(parse(guest), { unicode: false }).join('\n');
    expect([...text].every((letter) => letter.charCodeAt(0) < 128)).toBe(true);
    expect(text).toContain("'- host bridge 0102:00\n   '- InfiniBand  mlx5_1");
  });

  test('of a machine without GPUs shows its interface', () => {
    expect(drawTopology(parse(laptop))).toEqual([
      'NUMA node 0, cores 0-1',
      '└─ host bridge 0000:00',
      '   ├─ Ethernet  wlp1s0',
      '   └─ other     1 display',
    ]);
  });

  test('of any tree names every GPU and every rail, within the width', () => {
    fc.assert(
      fc.property(arbitraryTopology, (topology) => {
        const lines = drawTopology(topology);
        const words = lines.join(' ').split(/[ ,]+/);
        for (const { pci } of topology.gpus) expect(words).toContain(pci);
        for (const { name } of railNics(topology)) expect(words).toContain(name);
        const deep = lines.some((line) => line.lastIndexOf('─') > 50);
        if (!deep) expect(Math.max(0, ...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
      }),
    );
  });
});

describe('the table of GPUs and NICs', () => {
  test('says what they have in common, and which NICs are nobody’s', () => {
    expect(tableOf(dgx)).toEqual([
      'GPU PCI address  NUMA  in common     NICs',
      '  0 0000:13:00.0    0  0000:10:00.0  mlx5_0',
      '  1 0000:15:00.0    0  0000:10:00.0  mlx5_1',
      '  2 0000:83:00.0    1  0000:80:00.0  mlx5_3',
      '  3 0000:84:00.0    1  0000:80:00.0  mlx5_4',
      'near no GPU: mlx5_2',
    ]);
    expect(tableOf(guest)[1]).toBe('  0 0001:00:00.0    0  NUMA node 0  mlx5_0');
  });

  test('breaks lines between names', () => {
    expect(tableOf(p5, 60).slice(0, 3)).toEqual([
      'GPU PCI address  NUMA  in common     NICs',
      '  0 0000:17:00.0    0  0000:10:00.0  rdmap0 rdmap1 rdmap2',
      '                                     rdmap3',
    ]);
  });

  test('is empty without a GPU', () => expect(tableOf(laptop)).toEqual([]));
});

describe('sets and addresses', () => {
  test('lists are read as they are written', () => {
    expect(parseList('0-2,8,10-11\n')).toEqual([0, 1, 2, 8, 10, 11]);
    expect(formatList([11, 0, 2, 1, 8, 10])).toBe('0-2,8,10-11');
    expect(parseList('')).toEqual([]);
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(300)), (values) => {
        expect(parseList(formatList(values))).toEqual([...values].sort((a, b) => a - b));
      }),
    );
  });

  test('bitmaps have their highest word first, and may have no end', () => {
    expect(parseBitmap('0x00000001,0x80000001')).toEqual([0, 31, 32]);
    expect(parseBitmap('0x1,,0x0')).toEqual([64]);
    expect(parseBitmap('0xf...f')).toBeUndefined();
    expect(parseBitmap('nonsense')).toBeUndefined();
    expect(parseBitmap(undefined)).toBeUndefined();
  });

  test('addresses have many spellings', () => {
    expect(pciAddress('00000000:4F:00.0')).toBe('0000:4f:00.0');
    expect(pciAddress('4f:0.0')).toBe('0000:4f:00.0');
    expect(pciAddress('10000:e1:00.0')).toBe('10000:e1:00.0');
    expect(pciAddress('eth0')).toBeUndefined();
    expect(
      ['10000:00:00.0', 'ffff:00:00.0', '0000:0a:00.0', '0000:09:1f.7'].sort(comparePci),
    ).toEqual(['0000:09:1f.7', '0000:0a:00.0', 'ffff:00:00.0', '10000:00:00.0']);
  });
});
