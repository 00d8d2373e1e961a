import { describe, expect, test } from 'vitest';
import { isWeftError } from '../../src/errors.js';
import { agreeOnGpuRails, reportGpuRails } from '../../src/session/gpu-rails.js';
import { parseHwloc } from '../../src/topology/hwloc.js';
import { railNics } from '../../src/topology/nearest.js';
import type { Machine } from '../../src/world/launch/machine.js';
import { pinPlan, pinUnderLauncher } from '../../src/world/launch/pinning.js';
import { laptop, p4d, p5, p5en } from '../topology/machines.js';

const machineOf = (xml: string): Machine => {
  const topology = parseHwloc(xml, 'machine.xml');
  return { topology, gpus: topology.gpus.map(({ pci }) => pci) };
};
const offeredOf = ({ topology }: Machine) => railNics(topology).map(({ name }) => name);

describe('rails near GPUs', () => {
  const machine = machineOf(p5);
  const report = (localRank: number, more: Partial<Parameters<typeof reportGpuRails>[1]> = {}) =>
    reportGpuRails(machine, { localRank, localRanks: 8, offered: offeredOf(machine), ...more });

  test('a rank tells the NICs of its GPU', () => {
    expect(report(3)).toMatchObject({
      nics: ['rdmap12', 'rdmap13', 'rdmap14', 'rdmap15'],
      skipped: [],
    });
  });

  test('`gpus` chooses by CUDA’s number', () => {
    expect(report(0, { gpus: [7] }).nics[0]).toBe('rdmap28');
    try {
      report(0, { gpus: [8] });
      expect.unreachable();
    } catch (error) {
      expect(isWeftError(error, 'BAD_USAGE') && error.hint).toContain('0 to 7');
    }
  });

  test('what libfabric does not offer is left out and told', () => {
    const offered = offeredOf(machine).filter((name) => name !== 'rdmap13');
    expect(report(3, { offered })).toMatchObject({
      nics: ['rdmap12', 'rdmap14', 'rdmap15'],
      skipped: [{ name: 'rdmap13', reason: 'not-offered', text: 'libfabric does not offer it' }],
    });
  });

  test('a machine without GPUs tells none', () => {
    expect(reportGpuRails(machineOf(laptop), { localRank: 0, localRanks: 1 })).toMatchObject({
      nics: [],
      all: [],
    });
  });

  test('rail k of a GPU on one host meets rail k of the same GPU on the other', () => {
    const reports = [report(0), report(5), report(0), report(5)];
    const hosts = ['a', 'a', 'b', 'b'];
    const nics = hosts.map((_, rank) => agreeOnGpuRails(reports, { rank, hosts }).nics);
    expect(nics[0]).toEqual(nics[2]);
    expect(nics[1]).toEqual(['rdmap20', 'rdmap21', 'rdmap22', 'rdmap23']);
    expect(nics[1]).toEqual(nics[3]);
  });

  test('all use as many as the rank with fewest, and say so', () => {
    const offered = offeredOf(machine).filter((name) => name !== 'rdmap20');
    const reports = [report(0), report(5, { offered })];
    const hosts = ['a', 'b'];
    expect(agreeOnGpuRails(reports, { rank: 0, hosts })).toEqual({
      nics: ['rdmap0', 'rdmap1', 'rdmap2'],
      unused: [
        {
          nic: 'rdmap3',
          host: 'a',
          reason: 'fewer-elsewhere',
          text: 'rank 1 on b has only 3 NICs near its GPU',
          peer: 'b',
        },
        {
          nic: 'rdmap20',
          host: 'b',
          reason: 'not-offered',
          text: 'libfabric does not offer it',
        },
      ],
    });
  });

  test('where a rank has no GPU, NICs are not chosen by GPU', () => {
    const none = { nics: [], all: [], skipped: [] };
    const hosts = ['a', 'b'];
    expect(agreeOnGpuRails([none, none], { rank: 0, hosts })).toEqual({ unused: [] });
    expect(agreeOnGpuRails([report(0), none], { rank: 0, hosts })).toEqual({
      unused: [],
      nicsNotByGpu: 'rank 1 on b has no NIC near its GPU',
    });
  });

  test('without GPUs all use as many as the host with fewest, and say so', () => {
    const two = { nics: [], all: ['mlx5_0', 'mlx5_1'], skipped: [] };
    const one = { ...two, all: ['mlx5_0'] };
    const hosts = ['a', 'b'];
    const text = 'rank 1 on b has only 1 NIC';
    expect(agreeOnGpuRails([two, one], { rank: 0, hosts })).toEqual({
      nics: ['mlx5_0'],
      unused: [{ nic: 'mlx5_1', host: 'a', reason: 'fewer-elsewhere', text, peer: 'b' }],
    });
  });
});

describe('cores', () => {
  const cores = Array.from({ length: 16 }, (_, i) => i);
  const plan = (xml: string, localRanks: number, more: object = {}) =>
    pinPlan(
      { pin: 'auto', localRanks, ...more },
      () => machineOf(xml),
      () => cores,
    );

  test('with GPUs ranks get those of their GPU’s node', () => {
    expect(plan(p5en, 2, { gpus: [0, 7] })).toEqual([
      [0, 1, 2, 3, 4, 5, 6, 7],
      [8, 9, 10, 11, 12, 13, 14, 15],
    ]);
  });

  test('without, equal shares of all', () => {
    expect(plan(laptop, 2)).toEqual([cores.slice(0, 8), cores.slice(8)]);
  });

  test('also when a node has too few for its ranks', () => {
    expect(plan(p4d, 10, { gpus: [0] })).toEqual(cores.slice(0, 10).map((core) => [core]));
  });

  test('none when asked for none', () => {
    expect(
      pinPlan(
        { pin: 'none', localRanks: 2 },
        () => machineOf(p5),
        () => cores,
      ),
    ).toBeUndefined();
  });

  describe('under a launcher', () => {
    const pinned = (xml: string, allowed: number[]) => {
      const pins: number[][] = [];
      const options = { pin: 'auto', localRank: 5, localRanks: 8 } as const;
      const to = (list: number[]) => void pins.push(list);
      pinUnderLauncher(
        options,
        () => machineOf(xml),
        () => allowed,
        to,
      );
      return pins;
    };

    test('a rank moves to its share of its GPU’s node', () => {
      expect(pinned(p5, cores)).toEqual([[10, 11]]);
    });
    test('unless it was bound to cores already', () => {
      expect(pinned(p5, [0, 1])).toEqual([]);
    });
    test('or there is no GPU', () => {
      expect(pinned(laptop, cores)).toEqual([]);
    });
  });
});
