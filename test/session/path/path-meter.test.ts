import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Fabric } from '../../../src/fabric/fabric.js';
import { oneToEach } from '../../../src/plan/patterns/one-to-each.js';
import { single } from '../../../src/plan/strategies.js';
import { PathMeter } from '../../../src/session/path/path-meter.js';
import type { World } from '../../../src/world/world.js';
import { deviceWith } from './device.js';

/** Rank 0 of two on one host; the other one sends nothing. */
function worldOfTwo(): World {
  const member = { bootId: 'b', netns: 'n', host: 'h0', pid: 1 };
  const members = [0, 1].map((rank) => ({ ...member, rank, localRank: rank }));
  return {
    rank: 0,
    size: 2,
    members,
    hosts: ['h0', 'h0'],
    allgather: async (_: string, value: unknown) => [value, value],
    gather: async (_: string, value: unknown) => [value, { planned: [] }],
    broadcast: async (_: string, value: unknown) => value,
  } as unknown as World;
}

const bytes = 1e6;
const plan = oneToEach({ world: 2, from: 0, bytes, rank: 0, channels: 1, strategy: single });
const counted = { 'hw_counters/tx_bytes': String(bytes), 'hw_counters/rx_bytes': String(bytes) };

afterEach(() => vi.unstubAllEnvs());

async function meterOn(root: string): Promise<PathMeter> {
  vi.stubEnv('SYSFS_PATH', root);
  const library = { major: 2, minor: 1 };
  const fabric = { provider: 'efa', library, channels: [{ nic: 'rdmap0' }] } as unknown as Fabric;
  return PathMeter.open(worldOfTwo(), fabric, false);
}

describe('counters that a driver brings up to date once a second', () => {
  const zero = { 'hw_counters/tx_bytes': '0', 'hw_counters/rx_bytes': '0' };

  test('are waited for before bytes are missed', async () => {
    const { root, set } = deviceWith(zero);
    const meter = await meterOn(root);
    const { proof } = await meter.around([{ plan, iterations: 1 }], async () => {
      setTimeout(() => set(counted), 300);
    });
    expect(proof?.path).toMatchObject({ asPlanned: true, nics: [{ nic: 'rdmap0', txBytes: 1e6 }] });
  });

  test('are waited for once, where waiting showed nothing new', async () => {
    const { root } = deviceWith(zero);
    const meter = await meterOn(root);
    const missing = async () => {
      const started = performance.now();
      const { proof } = await meter.around([{ plan, iterations: 1 }], async () => {});
      expect(proof?.path).toMatchObject({ asPlanned: false, reason: 'elsewhere' });
      return performance.now() - started;
    };
    expect(await missing()).toBeGreaterThan(1000);
    expect(await missing()).toBeLessThan(500);
  });
});

test('several stretches of a row are one path', async () => {
  const { root, set } = deviceWith({ ...counted });
  const tally = (await meterOn(root)).tally();
  for (const factor of [2, 3, 4]) {
    await tally.during([{ plan, iterations: 1 }], async () => {
      const now = String(factor * bytes);
      set({ 'hw_counters/tx_bytes': now, 'hw_counters/rx_bytes': now });
    });
  }
  const proof = await tally.settle();
  const [nic] = proof!.path.nics;
  expect(nic).toMatchObject({ ranks: [0, 1], txBytes: 3e6, expectedTxBytes: 3e6, rxBytes: 3e6 });
  expect(proof!.path.asPlanned).toBe(true);
  expect(proof!.between(0, 1)).toEqual({ nics: [], asPlanned: true });
});
