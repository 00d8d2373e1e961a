import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseHwloc } from '../../src/topology/hwloc.js';
import type { Bridge, Topology, TreeNode } from '../../src/topology/model.js';
import { assignNics, railNics, spread, usableNics } from '../../src/topology/nearest.js';
import { arbitraryTopology } from './arbitrary.js';
import { bridge, gpu, host, hwloc2, mlx5 } from './hwloc-xml.js';
import { dgx, guest, laptop, p4d, p5, p5en, p6b200 } from './machines.js';

const parse = (xml: string) => parseHwloc(xml, 'machine.xml');
const namesOf = (topology: Topology, nics = railNics(topology)) =>
  assignNics(topology, nics).map((one) => one.nics.map(({ name }) => name));

describe('the NICs of a GPU', () => {
  test('p5: four of its own for each, and none of the ordinary interfaces', () => {
    expect(namesOf(parse(p5))).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [0, 1, 2, 3].map((k) => `rdmap${4 * i + k}`)),
    );
  });

  test('p5en: two GPUs share four, two each', () => {
    expect(namesOf(parse(p5en)).slice(0, 4)).toEqual([
      ['rdmap0', 'rdmap1'],
      ['rdmap2', 'rdmap3'],
      ['rdmap4', 'rdmap5'],
      ['rdmap6', 'rdmap7'],
    ]);
  });

  test('p6-b200: two GPUs share two, one each', () => {
    expect(namesOf(parse(p6b200))).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((i) => [`rdmap${i}`]));
  });

  test('p4d: two GPUs share one', () => {
    expect(namesOf(parse(p4d))).toEqual([0, 0, 1, 1, 2, 2, 3, 3].map((i) => [`rdmap${i}`]));
  });

  test('a DGX: those on its switch, and those for storage are nobody’s', () => {
    expect(namesOf(parse(dgx))).toEqual([['mlx5_0'], ['mlx5_1'], ['mlx5_3'], ['mlx5_4']]);
  });

  test('a guest that shows no bridges: those of the node', () => {
    const topology = parse(guest);
    expect(namesOf(topology)).toEqual([['mlx5_0'], ['mlx5_1'], ['mlx5_2'], ['mlx5_3']]);
    expect(assignNics(topology)[0]!.nearness).toEqual({ by: 'numa', node: 0 });
  });

  test('where its node has none: any', () => {
    const xml = hwloc2([
      {
        node: 0,
        cores: [0],
        inside: [host('0000:[00-0f]', [gpu('0000:01:00.0'), gpu('0000:02:00.0')])],
      },
      {
        node: 1,
        cores: [1],
        inside: [
          host('0000:[10-1f]', [mlx5('0000:11:00.0', 'mlx5_0'), mlx5('0000:12:00.0', 'mlx5_1')]),
        ],
      },
    ]);
    expect(namesOf(parse(xml))).toEqual([['mlx5_0'], ['mlx5_1']]);
    expect(assignNics(parse(xml))[0]!.nearness).toEqual({ by: 'machine' });
  });

  test('what a nearer GPU has taken is taken last', () => {
    const xml = hwloc2([
      {
        node: 0,
        cores: [0],
        inside: [
          host('0000:[00-0f]', [
            bridge('0000:00:01.0', [gpu('0000:01:00.0'), mlx5('0000:02:00.0', 'mlx5_0')]),
            bridge('0000:00:02.0', [mlx5('0000:03:00.0', 'mlx5_1')]),
            bridge('0000:00:03.0', [gpu('0000:04:00.0')]),
          ]),
        ],
      },
    ]);
    expect(namesOf(parse(xml))).toEqual([['mlx5_0'], ['mlx5_1']]);
  });

  test('without an RDMA device the interfaces are the rails', () => {
    expect(railNics(parse(laptop)).map(({ name }) => name)).toEqual(['wlp1s0']);
  });
});

describe('devices that cannot be used', () => {
  test('are told with the reason, and the rest is shared', () => {
    const topology = parse(p5en);
    const offered = railNics(topology)
      .map(({ name }) => name)
      .filter((name) => name !== 'rdmap1' && name !== 'rdmap2');
    const { usable, skipped } = usableNics(topology, offered);
    expect(skipped).toEqual([
      { name: 'rdmap1', reason: 'not-offered', text: 'libfabric does not offer it' },
      { name: 'rdmap2', reason: 'not-offered', text: 'libfabric does not offer it' },
    ]);
    expect(namesOf(topology, usable).slice(0, 3)).toEqual([
      ['rdmap0'],
      ['rdmap3'],
      ['rdmap4', 'rdmap5'],
    ]);
  });

  test('a port that is down is one', () => {
    const parts = [gpu('0000:01:00.0'), mlx5('0000:02:00.0', 'mlx5_0', '1')];
    const topology = parse(
      hwloc2([{ node: 0, cores: [0], inside: [host('0000:[00-0f]', parts)] }]),
    );
    expect(usableNics(topology)).toEqual({
      usable: [],
      skipped: [{ name: 'mlx5_0', reason: 'port-down', text: 'its port is down' }],
    });
  });

  test('all of them gone, no GPU has any', () => {
    expect(new Set(namesOf(parse(p5), []).map((names) => names.length))).toEqual(new Set([0]));
  });
});

test('equal parts: in order, none left over, sizes that differ by one at most', () => {
  fc.assert(
    fc.property(fc.nat(64), fc.integer({ min: 1, max: 16 }), (count, among) => {
      const things = Array.from({ length: count }, (_, i) => i);
      const parts = spread(things, among);
      const sizes = parts.map((part) => part.length);
      const enough = count >= among;
      expect(parts).toHaveLength(among);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      if (enough) expect(parts.flat()).toEqual(things);
      else {
        const users = things.map((thing) => parts.filter((part) => part.includes(thing)).length);
        expect(Math.max(0, ...users) - Math.min(...users, among)).toBeLessThanOrEqual(1);
      }
    }),
  );
});

describe('in any tree', () => {
  /** Bridges above a device, outermost first. */
  const pathTo = (nodes: readonly TreeNode[], pci: string): Bridge[] | undefined => {
    for (const node of nodes) {
      if (node.kind !== 'bridge') {
        if (node.pci === pci) return [];
        continue;
      }
      const below = pathTo(node.children, pci);
      if (below) return [node, ...below];
    }
    return undefined;
  };
  const shared = (topology: Topology, a: string, b: string): number => {
    const [left, right] = [pathTo(topology.roots, a)!, pathTo(topology.roots, b)!];
    const apart = left.findIndex((one, i) => one !== right[i]);
    return apart < 0 ? left.length : apart;
  };

  test('every GPU has a NIC as soon as there is one', () => {
    fc.assert(
      fc.property(arbitraryTopology, (topology) => {
        for (const { nics } of assignNics(topology)) {
          expect(nics.length > 0).toBe(topology.nics.length > 0);
        }
      }),
    );
  });

  test('no NIC is nearer than those a GPU has', () => {
    fc.assert(
      fc.property(arbitraryTopology, (topology) => {
        for (const { gpu: one, nics } of assignNics(topology)) {
          const depth = (pci: string) => shared(topology, one.pci, pci);
          const nearest = Math.max(0, ...topology.nics.map(({ pci }) => depth(pci)));
          for (const { pci } of nics) expect(depth(pci)).toBe(nearest);
        }
      }),
    );
  });

  test('GPUs that have the same in common share evenly: disjoint where there are enough', () => {
    fc.assert(
      fc.property(arbitraryTopology, (topology) => {
        const groups = new Map<string, string[][]>();
        for (const { nics, nearness } of assignNics(topology)) {
          const key = nearness.by === 'bridge' ? nearness.bridge.address : JSON.stringify(nearness);
          groups.set(key, [...(groups.get(key) ?? []), nics.map(({ pci }) => pci)]);
        }
        for (const parts of groups.values()) {
          const sizes = parts.map((part) => part.length);
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
          const used = parts.flat();
          const users = [...new Set(used)].map((nic) => used.filter((one) => one === nic).length);
          if (new Set(used).size >= parts.length)
            expect(Math.max(0, ...users)).toBeLessThanOrEqual(1);
          expect(Math.max(0, ...users) - Math.min(...users, parts.length)).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('rails are in the order of their addresses, and the same every time', () => {
    fc.assert(
      fc.property(arbitraryTopology, (topology) => {
        const once = assignNics(topology);
        const turned = { ...topology, roots: [...topology.roots].reverse() };
        expect(assignNics(turned)).toEqual(once);
        expect(assignNics(topology)).toEqual(once);
        const order = topology.nics.map(({ pci }) => pci);
        for (const { nics } of once) {
          const places = nics.map(({ pci }) => order.indexOf(pci));
          expect(places).toEqual([...places].sort((a, b) => a - b));
        }
      }),
    );
  });
});
