import { describe, expect, test } from 'vitest';
import { expandHostList, expandTasksPerNode } from '../../src/topology/host-list.js';

describe('expandHostList', () => {
  test.each([
    ['node1', ['node1']],
    ['node[1-3,7]', ['node1', 'node2', 'node3', 'node7']],
    ['n[008-011]', ['n008', 'n009', 'n010', 'n011']],
    ['a[1-2]b[3-4]', ['a1b3', 'a1b4', 'a2b3', 'a2b4']],
    ['x,y[1,3]-ib,z', ['x', 'y1-ib', 'y3-ib', 'z']],
    ['gpu-a[9-10].example', ['gpu-a9.example', 'gpu-a10.example']],
  ])('%s', (text, hosts) => {
    expect(expandHostList(text)).toEqual(hosts);
  });

  test.each(['', 'a,,b', 'n[1-', 'n1]', 'n[[1]]', 'n[a-b]', 'n[]', 'n[3-1]', 'n[0-99999999]'])(
    'refuses "%s"',
    (text) => {
      expect(() => expandHostList(text)).toThrowError(/cannot read the host list/);
    },
  );

  test('does not expand a product without end', () => {
    expect(() => expandHostList('n[0-9999][0-9999][0-9999]')).toThrowError(/too many hosts/);
  });
});

describe('expandTasksPerNode', () => {
  test.each([
    ['4', [4]],
    ['2(x4),1', [2, 2, 2, 2, 1]],
    ['1,2(x2),3', [1, 2, 2, 3]],
  ])('%s', (text, tasks) => {
    expect(expandTasksPerNode(text)).toEqual(tasks);
  });

  test.each(['', 'x', '2(x)', '2x4', '2(x99999999)'])('refuses "%s"', (text) => {
    expect(() => expandTasksPerNode(text)).toThrowError(/tasks per node/);
  });
});
