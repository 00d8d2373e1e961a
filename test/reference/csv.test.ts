import { expect, test } from 'vitest';
import { readFigures } from '../../src/reference/csv.js';

const read = (line: string) =>
  readFigures(`benchmark,nodes,ranks_per_node,config,size_bytes,lat_us\n${line}\n`, 'rows.csv');

test('a line is a figure', () => {
  expect(read('write,4,2,SinglePin,64K,12.5')).toEqual([
    {
      ...{ benchmark: 'write', nodes: 4, ranksPerNode: 2, column: 'SinglePin' },
      ...{ bytes: 65_536, nanoseconds: 12_500 },
    },
  ]);
});

test.each([
  ['write,4294967296,1,SinglePin,64K,12.5', 'line 2: 4294967296 nodes with 1 ranks each'],
  ['write,2.5,1,SinglePin,64K,12.5', 'line 2: 2.5 nodes'],
  ['write,2,Infinity,SinglePin,64K,12.5', 'ranks_per_node "Infinity" is not a number above 0'],
])('%s is refused', (line, message) => {
  expect(() => read(line)).toThrow(message);
});
