import { describe, expect, test } from 'vitest';
import type { HostState } from '../../../src/session/preflight/host-state.js';
import { filesNeeded, judge } from '../../../src/session/preflight/judge.js';

const GiB = 2 ** 30;
const healthy: HostState = {
  node: 'v20.1.0',
  libfabric: '1.17',
  provider: 'tcp;ofi_rxm',
  openFiles: 4096,
  lockedBytes: 8 * 2 ** 20,
  sharedFreeBytes: GiB,
  localShm: false,
  lacksShm: false,
  closedDevices: [],
  clock: { offsetMs: 0, roundTripMs: 1 },
};
const job = { provider: 'tcp', ranks: 4, channels: 1 };

/** A host for each of these differences from a healthy one. */
const hosts = (...odd: Partial<HostState>[]) =>
  odd.map((state, index) => ({
    host: `h${index}`,
    ranks: 1,
    links: 0,
    state: { ...healthy, ...state },
  }));
const clock = (offsetMs: number, roundTripMs = 1) => ({ clock: { offsetMs, roundTripMs } });

describe('the preflight', () => {
  test('finds nothing in hosts that are alike', () => {
    expect(judge(hosts({}, {}, {}), job)).toEqual([]);
  });

  test('warns of other versions, and stops where they use other protocols', () => {
    const [warning, ...none] = judge(hosts({}, { libfabric: '1.18' }), job);
    expect(none).toEqual([]);
    expect(warning).toMatchObject({
      level: 'warning',
      what: 'the versions of libfabric differ: 1.17 on h0, 1.18 on h1',
    });
    const apart = judge(hosts({}, { libfabric: '1.18', provider: 'tcp', node: 'v22.0.0' }), job);
    expect(apart.map(({ level }) => level)).toEqual(['error', 'warning']);
    expect(apart[0]!.what).toContain('tcp;ofi_rxm on h0, tcp on h1');
    expect(apart[1]!.what).toBe('the versions of Node.js differ: v20.1.0 on h0, v22.0.0 on h1');
  });

  test('names the host with the odd clock, even if it is that of rank 0', () => {
    const of = (...offsets: Partial<HostState>[]) => judge(hosts(...offsets), job);
    expect(of({}, clock(999), {})).toEqual([]);
    expect(of({}, clock(1200, 600), {})).toEqual([]);
    expect(of({}, {}, clock(-90_000))).toMatchObject([
      { level: 'warning', what: 'h2: its clock is 90.0 s behind that of most hosts' },
    ]);
    expect(of({}, clock(-2000), clock(-2001))).toMatchObject([
      { what: 'h0: its clock is 2.0 s ahead of that of most hosts' },
    ]);
  });

  test('counts the files of connections, and those of the rendezvous on rank 0’s host', () => {
    const large = { provider: 'tcp', ranks: 64, channels: 4 };
    expect(filesNeeded(large, { rendezvous: true }) - filesNeeded(large)).toBe(64);
    const limit = { openFiles: filesNeeded(large) };
    expect(judge(hosts(limit, limit), large)).toMatchObject([
      { level: 'error', what: expect.stringMatching(/^h0: a process may open 300 files/) },
    ]);
    expect(judge(hosts(limit, limit), { ...large, provider: 'efa' })).not.toContainEqual(
      expect.objectContaining({ what: expect.stringContaining('files') }),
    );
  });

  test('counts the links of a relay', () => {
    const large = { provider: 'tcp', ranks: 64, channels: 4 };
    const limit = { openFiles: filesNeeded(large) };
    const relay = hosts({}, limit).map((host) => ({ ...host, links: 32 }));
    expect(judge(relay, large)).toMatchObject([
      { level: 'error', what: expect.stringMatching(/^h1: .* open 300 files, but needs 332/) },
    ]);
  });

  test('wants room in /dev/shm where efa hands local transfers to shm, and for several ranks only', () => {
    const efa = { provider: 'efa', ranks: 8, channels: 4 };
    const state = { lockedBytes: undefined, localShm: true, sharedFreeBytes: 60 * 2 ** 20 };
    const alone = hosts(state, state);
    const together = alone.map((host) => ({ ...host, ranks: 4 }));
    expect(judge(alone, efa)).toEqual([]);
    expect(judge(together, efa)).toMatchObject([
      {
        level: 'error',
        what: expect.stringMatching(/4 ranks × 4 channels over efa with shm .* need 64M/),
      },
    ]);
    const overNics = hosts({ ...state, localShm: false }).map((host) => ({ ...host, ranks: 4 }));
    expect(judge(overNics, efa)).toEqual([]);
  });

  test('wants locked memory for RDMA only', () => {
    const efa = { ...job, provider: 'efa' };
    expect(judge(hosts({}, {}), efa)).toMatchObject([
      {
        level: 'error',
        what: expect.stringMatching(/^h0, h1: only 8M of memory can be locked/),
        hosts: ['h0', 'h1'],
      },
    ]);
    expect(judge(hosts({ lockedBytes: GiB / 2 }), efa)).toMatchObject([{ level: 'warning' }]);
    expect(judge(hosts({ lockedBytes: undefined }), efa)).toEqual([]);
  });
});
