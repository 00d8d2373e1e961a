import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addPlanned } from '../../../src/analysis/path/observation.js';
import { seededRandom } from '../../../src/measure/seeded-random.js';
import { loadOfTraffic } from '../../../src/plan/bound.js';
import { allToAll, allToAllTraffic } from '../../../src/plan/patterns/all-to-all.js';
import { oneToEach } from '../../../src/plan/patterns/one-to-each.js';
import { chunkCount, isWrite } from '../../../src/plan/plan.js';
import { multi, roundRobin, single } from '../../../src/plan/strategies.js';
import { packPlanned, placesOf, sumPlanned } from '../../../src/session/path/packing.js';
import { hostsOf, plannedOf, type Routes, ranksOn } from '../../../src/session/path/routes.js';
import { packValue } from '../../../src/world/rendezvous/values.js';
import { byReads, inParts } from '../../plan/variants.js';

const routesOf = (changes: Partial<Routes>): Routes => ({
  hostOf: [0, 1],
  nics: [
    ['nic0', 'nic1'],
    ['nic0', 'nic1'],
  ],
  provider: 'tcp;ofi_rxm',
  emulated: false,
  emulatedWrites: false,
  localShm: false,
  ...changes,
});
const write = (rank: number) =>
  oneToEach({ world: 2, from: 0, bytes: 3e6, rank, channels: 2, strategy: single });
const loop = { plan: write(0), iterations: 10 };
const sent = { txBytes: 3e7, rxBytes: 0, writeBytes: 3e7, messages: 30 };
const received = { txBytes: 0, rxBytes: 3e7, writeBytes: 0, messages: 30 };

describe('what plans put on NICs', () => {
  test('is at both ends of every transfer, as often as the loop runs', () => {
    expect(plannedOf(routesOf({}), 0, [loop])).toEqual([
      { host: 0, nic: 'nic0', ...sent },
      { host: 1, nic: 'nic0', ...received },
    ]);
    expect(plannedOf(routesOf({}), 1, [{ plan: write(1), iterations: 10 }])).toEqual([]);
  });

  test('is sent by the peer where a plan reads', () => {
    const [, plan] = byReads([write(0), write(1)]);
    expect(plannedOf(routesOf({}), 1, [{ plan: plan!, iterations: 10 }])).toEqual([
      { host: 0, nic: 'nic0', ...sent, writeBytes: 0 },
      { host: 1, nic: 'nic0', ...received },
    ]);
  });

  test('counts the chunks of every part', () => {
    const [plan] = inParts([write(0), write(1)], seededRandom(1), 9);
    const { parts } = plan!.steps.find(isWrite)!;
    const messages =
      10 * parts!.reduce((sum, part) => sum + chunkCount(part.bytes, plan!.chunkBytes), 0);
    expect(messages).toBeGreaterThan(sent.messages);
    expect(plannedOf(routesOf({}), 0, [{ plan: plan!, iterations: 10 }])[0]).toMatchObject({
      ...sent,
      messages,
    });
  });

  const twoHosts = { hostOf: [0, 0, 1], nics: [['nic0'], ['nic0'], ['nic0']] };
  const both = { ...sent, rxBytes: 3e7, messages: 60 };

  test('is on loopback for sockets inside a host', () => {
    const [first] = plannedOf(routesOf(twoHosts), 0, [loop]);
    expect(first).toEqual({ host: 0, nic: 'lo', ...both });
    expect(ranksOn(routesOf(twoHosts), 0, 'lo')).toEqual([0, 1]);
  });

  test('is on the NIC that was named where all ranks are on one host', () => {
    const [first] = plannedOf(routesOf({ hostOf: [0, 0] }), 0, [loop]);
    expect(first).toEqual({ host: 0, nic: 'nic0', ...both });
  });

  test('is on the device for RDMA, except what an adapter sends to itself', () => {
    const efa = { ...twoHosts, provider: 'efa' };
    expect(plannedOf(routesOf(efa), 0, [loop])).toEqual([{ host: 0, nic: 'nic0', ...both }]);
    expect(plannedOf(routesOf({ ...efa, provider: 'verbs;ofi_rxm' }), 0, [loop])).toEqual([]);
    expect(plannedOf(routesOf({ ...efa, localShm: true }), 0, [loop])).toEqual([]);
  });

  test('is nothing for shared memory, and sends where writes are emulated', () => {
    expect(plannedOf(routesOf({ provider: 'shm', hostOf: [0, 0] }), 0, [loop])).toEqual([]);
    const emulated = routesOf({ provider: 'efa', emulatedWrites: true });
    expect(plannedOf(emulated, 0, [loop])[0]).toMatchObject({ txBytes: 3e7, writeBytes: 0 });
  });

  test('agrees with the load of the bound', () => {
    const cases = fc.tuple(
      fc.integer({ min: 2, max: 9 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 100_000 }),
      fc.constantFrom(single, multi, roundRobin),
    );
    fc.assert(
      fc.property(cases, ([world, channels, bytes, strategy]) => {
        const ranks = Array.from({ length: world }, (_, rank) => rank);
        const nics = ranks.map(() => Array.from({ length: channels }, (_, i) => `nic${i}`));
        const routes = routesOf({ hostOf: ranks, nics });
        const load = loadOfTraffic(allToAllTraffic({ world, bytes }), strategy, channels);
        const out = new Float64Array(world * channels);
        const into = new Float64Array(world * channels);
        for (const rank of ranks) {
          const plan = allToAll({ world, bytes, rank, channels, strategy });
          for (const { host, nic, txBytes, rxBytes } of plannedOf(routes, rank, [
            { plan, iterations: 1 },
          ])) {
            out[host * channels + Number(nic.slice(3))]! += txBytes;
            into[host * channels + Number(nic.slice(3))]! += rxBytes;
          }
        }
        expect(out).toEqual(load.out);
        expect(into).toEqual(load.in);
      }),
    );
  });
});

test('512 ranks tell rank 0 of their plans in a few kilobytes each', () => {
  const ranks = Array.from({ length: 512 }, (_, rank) => rank);
  const hostOf = ranks.map((rank) => Math.floor(rank / 8));
  const nics = ranks.map((rank) => [0, 1, 2, 3].map((i) => `rdmap${(rank % 8) * 4 + i}s0`));
  const routes = routesOf({ hostOf, nics, provider: 'efa' });
  const places = placesOf(routes);
  const plan = allToAll({ world: 512, bytes: 2 ** 20, rank: 7, channels: 4, strategy: multi });
  const planned = plannedOf(routes, 7, [{ plan, iterations: 3 }]);
  const packed = packPlanned(planned, places);
  expect(planned).toHaveLength(512 * 4);
  const sums = sumPlanned([packed, packed], places);
  for (const { host, nic, ...payload } of planned) {
    const number = places.findIndex((place) => place.host === host && place.nic === nic);
    expect(sums[number]).toEqual(addPlanned(payload, payload));
  }
  expect(JSON.stringify(packValue(packed)).length).toBeLessThan(16_384);
});

test('hosts are told apart by boot and network namespace', () => {
  const member = (rank: number, bootId: string, netns: string) => ({
    ...{ rank, bootId, netns, host: 'x', pid: 1, localRank: 0 },
  });
  const members = [member(0, 'a', '1'), member(1, 'a', '2'), member(2, 'a', '1')];
  expect(hostsOf({ members })).toEqual([0, 1, 0]);
});
