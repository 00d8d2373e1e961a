import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgePath } from '../../src/analysis/path/judge-path.js';
import {
  backgroundBytes,
  type Carried,
  mostBytes,
  type NicObservation,
  none,
  type Planned,
} from '../../src/analysis/path/observation.js';

const MB = 1e6;
const planned = (txBytes: number, rxBytes = 0, more: Partial<Planned> = {}): Planned => ({
  ...none,
  txBytes,
  rxBytes,
  messages: Math.ceil((txBytes + rxBytes) / MB),
  ...more,
});
const carried = (txBytes: number, rxBytes = 0, more: Partial<Carried> = {}): Carried => ({
  txBytes,
  rxBytes,
  ...more,
});
const nic = (name: string, of: Partial<NicObservation>): NicObservation => ({
  place: 1,
  host: 'h1',
  ranks: of.planned ? [0] : [],
  nic: name,
  mtu: 9000,
  ...of,
});

const amount = fc.integer({ min: 4 * backgroundBytes, max: 1e12 });
const mtu = fc.constantFrom(1280, 1500, 4096, 9000, 65_536);
const share = fc.double({ min: 0, max: 1, noNaN: true });
/** A NIC that carried its plan, with as many headers and acknowledgements as there may be. */
const healthy = fc.tuple(amount, amount, mtu, share).map(([tx, rx, size, overhead]) => {
  const counted = (own: number, other: number) =>
    Math.round(own + overhead * (mostBytes(own, other, size) - own));
  const seen = carried(counted(tx, rx), counted(rx, tx));
  return nic('nic0', { planned: planned(tx, rx), carried: seen, mtu: size });
});

describe('a path', () => {
  test('is as planned whatever headers, acknowledgements and background add', () => {
    const others = fc.array(fc.tuple(amount, amount));
    fc.assert(
      fc.property(fc.array(healthy, { minLength: 1, maxLength: 8 }), others, (nics, strangers) => {
        const used = nics.map((one, i) => ({ ...one, nic: `nic${i}` }));
        // What others send over NICs that no plan uses proves nothing.
        const idle = strangers.map(([tx, rx], i) => nic(`eth${i}`, { carried: carried(tx, rx) }));
        const path = judgePath([...used, ...idle]);
        expect(path).toMatchObject({ asPlanned: true });
        expect(path.text).toBeUndefined();
        expect(path.nics).toHaveLength(used.length);
      }),
    );
  });

  test('is not as planned when more than the headers went elsewhere', () => {
    const cases = fc.tuple(amount, mtu, fc.double({ min: 0.1, max: 1, noNaN: true }));
    fc.assert(
      fc.property(cases, ([bytes, size, astray]) => {
        const kept = Math.round(mostBytes(bytes * (1 - astray), 0, size)) - backgroundBytes;
        fc.pre(kept < bytes - backgroundBytes);
        const there = Math.round(mostBytes(bytes * astray, 0, size));
        const path = judgePath([
          nic('nic0', { planned: planned(bytes), carried: carried(kept), mtu: size }),
          nic('mgmt', { carried: carried(there), mtu: size }),
        ]);
        expect(path).toMatchObject({ asPlanned: false, reason: 'elsewhere' });
        expect(path.text).toMatch(/^path not as planned: nic0 on h1 carried /);
      }),
    );
  });

  test('names the NIC that lacks most, and where its bytes went', () => {
    const path = judgePath([
      nic('nic0', { planned: planned(400 * MB), carried: carried(12 * MB) }),
      nic('nic1', { planned: planned(400 * MB), carried: carried(404 * MB) }),
      nic('mgmt', { carried: carried(392 * MB) }),
      nic('nic0', {
        place: 0,
        host: 'h0',
        planned: planned(0, 400 * MB),
        carried: carried(0, 12 * MB),
      }),
      nic('mgmt', { place: 0, host: 'h0', carried: carried(0, 392 * MB) }),
    ]);
    expect(path.text).toBe(
      'path not as planned: nic0 on h1 carried 12 MB of 400 MB; 388 MB went over mgmt',
    );
    expect(path.nics.map((one) => `${one.host} ${one.nic}`)).toEqual([
      ...['h1 nic0', 'h1 nic1', 'h1 mgmt', 'h0 nic0', 'h0 mgmt'],
    ]);
  });

  test('keeps hosts of the same name apart', () => {
    const path = judgePath([
      nic('nic0', { planned: planned(400 * MB), carried: carried(12 * MB) }),
      nic('mgmt', { place: 7, carried: carried(392 * MB) }),
    ]);
    expect(path.text).toBe(
      'path not as planned: nic0 on h1 carried 12 MB of 400 MB; no other NIC carried the rest',
    );
  });

  test('says so when the bytes are nowhere, as with shared memory', () => {
    const path = judgePath([
      nic('efa0', { planned: planned(400 * MB, 400 * MB), carried: carried(0, 0) }),
      nic('efa1', { planned: planned(400 * MB, 400 * MB), carried: carried(0, 0) }),
      nic('lo', { carried: carried(2000, 2000) }),
    ]);
    expect(path).toMatchObject({ asPlanned: false, reason: 'elsewhere' });
    expect(path.text).toBe(
      'path not as planned: efa0 on h1 carried 0 bytes of 400 MB; no other NIC carried the rest (1 other NIC also short)',
    );
    expect(path.nics).toHaveLength(2);
  });

  test('tells a receiver that got its bytes another way', () => {
    const path = judgePath([
      nic('nic0', { planned: planned(0, 400 * MB), carried: carried(0, 100 * MB) }),
      nic('nic1', { planned: planned(0, 400 * MB), carried: carried(0, 706 * MB) }),
    ]);
    expect(path.text).toMatch(/nic0 on h1 received 100 MB of 400 MB; 300 MB went over nic1$/);
  });

  test('holds RDMA writes against sends', () => {
    const writes = planned(400 * MB, 0, { writeBytes: 400 * MB });
    const of = (rdmaWriteBytes: number, plan = writes) =>
      judgePath([
        nic('efa0', { planned: plan, carried: carried(410 * MB, 0, { rdmaWriteBytes }) }),
      ]);
    expect(of(400 * MB)).toMatchObject({ asPlanned: true });
    expect(of(0)).toMatchObject({
      asPlanned: false,
      reason: 'sends-for-writes',
      text: 'path not as planned: efa0 on h1 carried 0 bytes of 400 MB as RDMA writes and the rest as sends',
      nics: [{ rdmaWriteBytes: 0, expectedRdmaWriteBytes: 400 * MB }],
    });
    // Where the provider emulates writes the plan expects sends.
    expect(of(0, planned(400 * MB))).toMatchObject({ asPlanned: true });
  });

  test.for<[string, NicObservation[]]>([
    ['no-counters', []],
    ['no-counters', [nic('lo', { carried: carried(MB) })]],
    ['no-counters', [nic('mlx5_0', { planned: planned(400 * MB) })]],
    [
      'no-counters',
      [
        nic('mlx5_0', { planned: planned(400 * MB), carried: carried(401 * MB) }),
        nic('mlx5_1', { planned: planned(400 * MB) }),
      ],
    ],
    ['few-bytes', [nic('nic0', { planned: planned(5000), carried: carried(0) })]],
    ['few-bytes', [nic('nic0', { planned: planned(5000), carried: carried(MB) })]],
    [
      'small-messages',
      [nic('nic0', { planned: planned(MB, MB, { messages: 31_250 }), carried: carried(MB, MB) })],
    ],
  ])('cannot be told: %s', ([reason, nics]) => {
    expect(judgePath(nics)).toMatchObject({ asPlanned: null, reason });
    expect(judgePath(nics).text).toBeUndefined();
  });

  test('small messages that are nowhere are missed all the same', () => {
    const small = planned(MB, 0, { messages: 31_250 });
    expect(judgePath([nic('nic0', { planned: small, carried: carried(0) })])).toMatchObject({
      asPlanned: false,
    });
  });

  test('keeps retransmissions and drops where there are any', () => {
    const some = carried(MB, 0, { retransmits: 3, drops: 0 });
    const { nics } = judgePath([nic('efa0', { planned: planned(MB), carried: some })]);
    expect(nics).toMatchObject([{ retransmits: 3 }]);
    expect(nics[0]).not.toHaveProperty('drops');
  });

  test('does not list other traffic that is small beside the plan', () => {
    const used = nic('nic0', { planned: planned(400 * MB), carried: carried(MB) });
    const { nics } = judgePath([used, nic('mgmt', { carried: carried(2 * MB) })]);
    expect(nics.map((one) => one.nic)).toEqual(['nic0']);
  });
});
