import { describe, expect, test } from 'vitest';
import {
  addCarried,
  carriedBetween,
  HostCounters,
  parseInterfaces,
} from '../../../src/session/path/counters.js';
import { deviceWith } from './device.js';

describe('counters of an RDMA device', () => {
  test('are those of EFA; totals without RDMA are filled up from their parts', () => {
    const { root, set } = deviceWith({
      'hw_counters/tx_bytes': '100',
      'hw_counters/rx_bytes': '5',
      'hw_counters/send_bytes': '100',
      'hw_counters/rdma_write_bytes': '0',
      'hw_counters/retrans_pkts': '1',
      'hw_counters/rx_drops': '2',
    });
    const host = new HostCounters(root);
    const before = host.read().get('rdmap0')!;
    set({
      'hw_counters/tx_bytes': '150',
      'hw_counters/send_bytes': '150',
      'hw_counters/rdma_write_bytes': '4000',
      'hw_counters/retrans_pkts': '4',
    });
    const after = host.read().get('rdmap0')!;
    expect(carriedBetween(before, after)).toEqual({
      txBytes: 4050,
      rxBytes: 0,
      rdmaWriteBytes: 4000,
      retransmits: 3,
      drops: 0,
    });
    expect(host.carriers).toEqual(new Set(['nic0']));
  });

  test('of InfiniBand are words of four bytes', () => {
    const before = { port_xmit_data: 10, port_rcv_data: 20 };
    const after = { port_xmit_data: 1010, port_rcv_data: 20 };
    expect(carriedBetween(before, after)).toMatchObject({ txBytes: 4000, rxBytes: 0 });
  });

  test.for([
    ['stand still at 32 bits', 2 ** 32 - 1],
    ['never moved', 0],
  ] as const)('that %s tell nothing', ([, value]) => {
    const stuck = { port_xmit_data: value, port_rcv_data: value };
    expect(carriedBetween(stuck, stuck)).toBeUndefined();
  });

  test('that were set back tell nothing', () => {
    expect(carriedBetween({ tx_bytes: 5, rx_bytes: 5 }, { tx_bytes: 1, rx_bytes: 6 })).toBe(
      undefined,
    );
  });

  test('are read only when the kernel has fresh ones', async () => {
    const { root } = deviceWith({ 'hw_counters/tx_bytes': '1', 'hw_counters/lifespan': '40' });
    const host = new HostCounters(root);
    const started = performance.now();
    await host.readFresh();
    expect(performance.now() - started).toBeGreaterThan(39);
  });
});

test('interfaces are read from one file, whatever their names', () => {
  const text = [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop',
    '    lo: 1068    12    0    0    0     0          0         0     1068      12    0    0    0     0       0          0',
    'eth0:1: 7 1 0 2 0 0 0 0 9 1 0 3 0 0 0 0',
  ].join('\n');
  expect([...parseInterfaces(text)]).toEqual([
    ['lo', { tx_bytes: 1068, rx_bytes: 1068, drops: 0 }],
    ['eth0:1', { tx_bytes: 9, rx_bytes: 7, drops: 5 }],
  ]);
  expect(new HostCounters().read().get('lo')).toHaveProperty('tx_bytes');
});

test('two stretches add up', () => {
  const one = { txBytes: 1, rxBytes: 2, drops: 1 };
  expect(addCarried(undefined, one)).toEqual(one);
  expect(addCarried(one, { txBytes: 10, rxBytes: 20, drops: 0, retransmits: 1 })).toEqual({
    txBytes: 11,
    rxBytes: 22,
    drops: 1,
  });
});
