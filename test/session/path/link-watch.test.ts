import { expect, test } from 'vitest';
import { LinkWatch } from '../../../src/session/path/link-watch.js';
import { fakeSysfs } from '../../topology/fake-sysfs.js';

const sysfs = fakeSysfs();
const link = (nic: string, carrier: 0 | 1, downs: number) =>
  sysfs.put({
    [`class/net/${nic}/carrier`]: String(carrier),
    [`class/net/${nic}/carrier_down_count`]: String(downs),
  });

test('a link that goes down and comes up is told once, with its times', () => {
  link('nic0', 1, 4);
  link('nic1', 1, 0);
  const watch = new LinkWatch(['nic0', 'nic1', 'shm'], 0, sysfs.root);
  watch.look(100);
  link('nic0', 0, 5);
  watch.look(200);
  watch.look(300);
  expect(watch.take()).toEqual([]);
  expect(watch.down()).toEqual([{ nic: 'nic0', atMs: 200, milliseconds: null }]);
  link('nic0', 1, 5);
  watch.look(2200);
  expect(watch.take()).toEqual([{ nic: 'nic0', atMs: 200, milliseconds: 2000 }]);
  expect(watch.take()).toEqual([]);
  expect(watch.down()).toEqual([]);
});

test('a link that blinks between two looks is found by its counter', () => {
  link('nic0', 1, 4);
  const watch = new LinkWatch(['nic0'], 0, sysfs.root);
  link('nic0', 1, 5);
  watch.look(100);
  expect(watch.take()).toEqual([{ nic: 'nic0', atMs: 100, milliseconds: 0 }]);
});

test('an interface that vanishes is down', () => {
  link('nic0', 1, 0);
  const watch = new LinkWatch(['nic0'], 0, sysfs.root);
  sysfs.put({ 'class/net/nic0/carrier': '' });
  watch.look(100);
  expect(watch.down()).toHaveLength(1);
});

test('ports of an RDMA device', () => {
  const port = 'class/infiniband/efa0/ports/1';
  sysfs.put({ [`${port}/state`]: '4: ACTIVE', [`${port}/counters/link_downed`]: '0' });
  const watch = new LinkWatch(['efa0'], 0, sysfs.root);
  sysfs.put({ [`${port}/state`]: '1: DOWN', [`${port}/counters/link_downed`]: '1' });
  watch.look(100);
  sysfs.put({ [`${port}/state`]: '4: ACTIVE' });
  watch.look(400);
  expect(watch.take()).toEqual([{ nic: 'efa0', atMs: 100, milliseconds: 300 }]);
});
