import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeTopology } from '../../src/topology/make-topology.js';
import type { Topology } from '../../src/topology/model.js';
import { assignNics, usableNics } from '../../src/topology/nearest.js';

/** One switch: GPUs, and NICs by technology and rate, each on a bus of its own. */
function mixed(gpus: number, kinds: readonly (readonly [keyof typeof types, number?])[]): Topology {
  const device = (type: keyof typeof types | 'gpu', rateGbps?: number) => (bus: number) => ({
    ...(type === 'gpu' ? { classCode: 0x0302, vendor: 0x10de, device: 0x2901 } : types[type]),
    pci: `0000:${bus.toString(16).padStart(2, '0')}:00.0`,
    numaNode: 0,
    linkGbps: undefined,
    computes: false,
    ports:
      type === 'gpu' ? [] : [{ name: `${type}${bus}`, kind: 'rdma', rateGbps, up: true } as const],
  });
  const all = [...kinds.map((kind) => device(...kind)), ...Array(gpus).fill(device('gpu'))];
  const children = all.map((make, i) => make(i + 1));
  const root = { address: '0000:00', host: true, numaNode: 0, linkGbps: undefined, children };
  return makeTopology({ numaNodes: [{ node: 0, cores: [0] }], roots: [root] });
}

const types = {
  efa: { classCode: 0x0200, vendor: 0x1d0f, device: 0xefa3 },
  ib: { classCode: 0x0207, vendor: 0x15b3, device: 0x1021 },
} as const;

describe('NICs of different kinds', () => {
  const used = (topology: Topology, offered?: readonly string[]) =>
    assignNics(topology, usableNics(topology, offered).usable).map((one) =>
      one.nics.map(({ name }) => name),
    );

  test('are not mixed: the kind that carries most is dealt out, the rest is told', () => {
    const topology = mixed(2, [
      ['efa', 400],
      ['efa', 400],
      ['ib', 100],
      ['ib', 100],
    ]);
    expect(used(topology)).toEqual([['efa1'], ['efa2']]);
    expect(usableNics(topology).skipped).toEqual(
      ['ib3', 'ib4'].map((name) => ({
        name,
        reason: 'other-kind',
        text: 'InfiniBand at 100 Gbps is not mixed with the 2 EFA NICs at 400 Gbps',
      })),
    );
  });

  test('of one technology are kept apart by rate, also where the slow ones come first', () => {
    const topology = mixed(2, [['ib', 100], ['ib', 400], ['ib', 400], ['ib', 100], ['ib']]);
    expect(used(topology)).toEqual([['ib2'], ['ib3']]);
    expect(usableNics(topology).skipped.map(({ text }) => text)).toEqual([
      'InfiniBand at 100 Gbps is not mixed with the 2 InfiniBand NICs at 400 Gbps',
      'InfiniBand at 100 Gbps is not mixed with the 2 InfiniBand NICs at 400 Gbps',
      'InfiniBand of unknown rate is not mixed with the 2 InfiniBand NICs at 400 Gbps',
    ]);
  });

  test('what the provider offers decides first', () => {
    const topology = mixed(2, [
      ['efa', 400],
      ['efa', 400],
      ['ib', 100],
      ['ib', 100],
    ]);
    expect(used(topology, ['ib3', 'ib4'])).toEqual([['ib3'], ['ib4']]);
    expect(used(topology, ['efa1', 'ib3', 'ib4'])).toEqual([['efa1'], ['efa1']]);
    // Of the kind in use, one that is missing is told as such.
    expect(usableNics(topology, ['efa1']).skipped.map(({ reason }) => reason)).toEqual([
      'not-offered',
      'other-kind',
      'other-kind',
    ]);
  });

  test('one fast NIC does not stand against many that carry more together', () => {
    const kinds = [
      ['ib', 200],
      ['efa', 100],
      ['efa', 100],
      ['efa', 100],
      ['efa', 100],
    ] as const;
    expect(used(mixed(4, kinds))).toEqual([['efa2'], ['efa3'], ['efa4'], ['efa5']]);
  });

  test('whatever there is, GPUs get NICs of one technology and rate, and nothing goes untold', () => {
    const kind = fc.tuple(fc.constantFrom('efa', 'ib'), fc.constantFrom(100, 200, 400, undefined));
    fc.assert(
      fc.property(
        fc.array(kind, { maxLength: 12 }),
        fc.integer({ min: 1, max: 8 }),
        (kinds, gpus) => {
          const topology = mixed(gpus, kinds as [keyof typeof types, number?][]);
          const { usable, skipped } = usableNics(topology);
          const dealt = assignNics(topology).flatMap(({ nics }) => nics);
          const kindsUsed = new Set(dealt.map((nic) => `${nic.technology} ${nic.rateGbps}`));
          expect(kindsUsed.size).toBeLessThanOrEqual(1);
          expect(usable.length + skipped.length).toBe(kinds.length);
          const counts = assignNics(topology).map(({ nics }) => nics.length);
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
