import { describe, expect, test } from 'vitest';
import { fileJson } from '../../src/cli/info.js';
import { gpuLines, gpusJson, mapText } from '../../src/cli/info-topology.js';
import { parseHwloc } from '../../src/topology/hwloc.js';
import { dgx, laptop, p5 } from '../topology/machines.js';

const mapOf = (xml: string) => ({ topology: parseHwloc(xml, 'machine.xml'), facts: [] });

describe('info', () => {
  test('gives a file in the words of weft.info/1', () => {
    const told = fileJson('p5.xml', mapOf(p5));
    expect(told).toMatchObject({ schema: 'weft.info/1', libfabric: null, providers: [] });
    expect(told.nics[1]).toMatchObject({
      name: 'rdmap0',
      pci: '0000:13:00.0',
      numaNode: 0,
      rateGbps: 100,
    });
    expect(told.nics[0]).toMatchObject({ name: 'eth0', rateGbps: null });
    expect(told.gpus[7]).toMatchObject({
      index: 7,
      pci: '0000:87:00.0',
      numaNode: 1,
      nics: ['rdmap28', 'rdmap29', 'rdmap30', 'rdmap31'],
    });
  });

  test('joins what CUDA says to the GPU at that address', () => {
    const facts = [
      {
        index: 3,
        pci: '00000000:13:00.0',
        name: 'NVIDIA B200',
        computeCapability: '10.0',
        memoryBytes: 180 * 2 ** 30,
        dmabuf: true,
        ipc: false,
        peers: [0, 1, 2],
      },
    ];
    const map = { ...mapOf(dgx), facts };
    expect(gpuLines(map)).toEqual([
      '0  0000:13:00.0  NUMA 0  NVIDIA B200  CUDA 3  compute 10.0  180G  DMABUF  no IPC  peers 0-2',
      '1  0000:15:00.0  NUMA 0  model unknown',
      '2  0000:83:00.0  NUMA 1  model unknown',
      '3  0000:84:00.0  NUMA 1  model unknown',
    ]);
    expect(gpusJson(map)[0]).toMatchObject({ cuda: 3, dmabuf: true, peers: [0, 1, 2] });
    expect(gpusJson(map)[1]).toMatchObject({ cuda: null, dmabuf: null, name: null });
  });

  test('draws the tree, then the table', () => {
    const text = mapText(mapOf(dgx), { width: 80, unicode: true });
    expect(text).toMatch(/^NUMA node 0[\s\S]+\n\nGPU PCI address[\s\S]+near no GPU: mlx5_2$/);
    expect(mapText(mapOf(p5), { width: 80, unicode: true })).toMatch(
      /EFA rates are the published rates of p5\.48xlarge\.$/,
    );
    expect(mapText(mapOf(laptop), { width: 80, unicode: false })).not.toContain('GPU PCI');
  });
});
