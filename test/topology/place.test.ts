import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWeftError } from '../../src/errors.js';
import { parseHwloc } from '../../src/topology/hwloc.js';
import { placeRanks } from '../../src/topology/place.js';
import { visibleGpus } from '../../src/world/launch/machine.js';
import { arbitraryTopology } from './arbitrary.js';
import { laptop, p4d, p5, p5en } from './machines.js';

const parse = (xml: string) => parseHwloc(xml, 'machine.xml');
const machine = parse(p5);

describe('ranks by their local number', () => {
  test('each takes its GPU, the NICs of that, and its share of the node’s cores', () => {
    const places = placeRanks({ topology: machine, localRanks: 8 });
    expect(places.map(({ gpu }) => gpu?.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(places[5]).toMatchObject({
      nics: ['rdmap20', 'rdmap21', 'rdmap22', 'rdmap23'],
      numaNode: 1,
      cores: [10, 11],
    });
  });

  test('fewer ranks than GPUs have the same NICs as in a full job', () => {
    const topology = parse(p5en);
    const all = placeRanks({ topology, localRanks: 8 });
    const few = placeRanks({ topology, localRanks: 3 });
    expect(few.map(({ nics }) => nics)).toEqual(all.slice(0, 3).map(({ nics }) => nics));
    expect(few[0]!.cores).toEqual([0, 1]);
  });

  test('so do ranks on chosen GPUs', () => {
    const gpus = [machine.gpus[6]!.pci, machine.gpus[1]!.pci.toUpperCase()];
    const places = placeRanks({ topology: machine, localRanks: 2, gpus });
    expect(places.map(({ gpu, nics, cores }) => [gpu?.index, nics[0], cores])).toEqual([
      [6, 'rdmap24', [8, 9, 10, 11, 12, 13, 14, 15]],
      [1, 'rdmap4', [0, 1, 2, 3, 4, 5, 6, 7]],
    ]);
  });

  test('more ranks than GPUs go round and share everything but cores', () => {
    const places = placeRanks({ topology: machine, localRanks: 2, gpus: [machine.gpus[0]!.pci] });
    expect(places.map(({ gpu }) => gpu?.index)).toEqual([0, 0]);
    expect(places[1]!.nics).toEqual(places[0]!.nics);
    expect(places.map(({ cores }) => cores)).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
  });

  test('cores that the process may not use are left out; without enough there are none', () => {
    const place = (allowedCores: number[]) =>
      placeRanks({ topology: machine, localRanks: 8, allowedCores }).map(({ cores }) => cores);
    expect(place([0, 1, 2, 3, 8, 9, 10, 11])).toEqual([[0], [1], [2], [3], [8], [9], [10], [11]]);
    expect(new Set(place([0, 1, 2, 3, 8, 9, 10]))).toEqual(new Set([undefined]));
  });

  test('without a GPU ranks have all rails, and cores where these are', () => {
    expect(placeRanks({ topology: parse(laptop), localRanks: 2 })).toEqual([
      { gpu: undefined, nics: ['wlp1s0'], numaNode: 0, cores: [0] },
      { gpu: undefined, nics: ['wlp1s0'], numaNode: 0, cores: [1] },
    ]);
  });

  test('a GPU that is not there is bad usage', () => {
    try {
      placeRanks({ topology: machine, localRanks: 1, gpus: ['0000:ff:00.0'] });
      expect.unreachable();
    } catch (error) {
      expect(isWeftError(error, 'BAD_USAGE')).toBe(true);
    }
  });

  test('in any tree, cores are disjoint and of the rank’s own node', () => {
    fc.assert(
      fc.property(arbitraryTopology, fc.integer({ min: 1, max: 6 }), (topology, localRanks) => {
        const places = placeRanks({ topology, localRanks });
        const cores = places.flatMap((place) => place.cores ?? []);
        expect(new Set(cores).size).toBe(cores.length);
        for (const place of places) {
          const node = topology.numaNodes.find((one) => one.node === place.numaNode);
          for (const core of place.cores ?? []) expect(node?.cores).toContain(core);
        }
      }),
    );
  });

  test('in any tree, a job on some GPUs gets the NICs it would have in a job on all', () => {
    fc.assert(
      fc.property(arbitraryTopology, fc.infiniteStream(fc.boolean()), (topology, coins) => {
        const all = placeRanks({ topology, localRanks: Math.max(1, topology.gpus.length) });
        const some = topology.gpus.filter(() => coins.next().value);
        const gpus = some.map(({ pci }) => pci);
        if (gpus.length === 0) return;
        const places = placeRanks({ topology, localRanks: gpus.length, gpus });
        expect(places.map(({ nics }) => nics)).toEqual(some.map(({ index }) => all[index]!.nics));
      }),
    );
  });
});

describe('CUDA_VISIBLE_DEVICES', () => {
  const topology = parse(p4d);
  const [a, b, c] = topology.gpus.map(({ pci }) => pci);
  const visible = (list: string | undefined) =>
    visibleGpus(topology, { CUDA_VISIBLE_DEVICES: list });

  test('unset, all are visible', () => expect(visible(undefined)).toHaveLength(8));
  test('a list chooses and orders', () => expect(visible('2, 0,1')).toEqual([c, a, b]));
  test('it ends where it names none', () => expect(visible('1,-1,0')).toEqual([b]));
  test('empty, none is', () => expect(visible('')).toEqual([]));
  test('names cannot be told apart', () => expect(visible('GPU-8932f937')).toHaveLength(8));
});
