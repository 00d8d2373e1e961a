import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseTrafficFile } from '../../src/plan/traffic-file.js';

const parse = (text: string) => parseTrafficFile(text, 'file');

describe('a traffic file', () => {
  test('may be a matrix; what a rank keeps is not sent', () => {
    expect(parse('# to 0, 1, 2\n1K,4,0\n0,0,2K\n\n8,0,0\n')).toEqual({
      world: 3,
      transfers: [
        { from: 0, to: 1, bytes: 4 },
        { from: 1, to: 2, bytes: 2048 },
        { from: 2, to: 0, bytes: 8 },
      ],
    });
  });

  test('may be a list, whose order it keeps', () => {
    expect(parse('From, To, Bytes\n3,0,1M\n0,1,64\r\n0,1,64')).toEqual({
      world: 4,
      transfers: [
        { from: 3, to: 0, bytes: 2 ** 20 },
        { from: 0, to: 1, bytes: 64 },
        { from: 0, to: 1, bytes: 64 },
      ],
    });
  });

  test('may be a trace with times and dependencies', () => {
    const lines = [
      '{"from": 0, "to": 1, "bytes": "64K", "id": "a"}',
      '# the answer',
      '{"at": 12.5, "from": 1, "to": 2, "bytes": 8, "id": 7, "after": "a"}',
      '{"from": 2, "to": 0, "bytes": 0, "after": [7]}',
      '{"from": 1, "to": 0, "bytes": 1, "after": ["a", 7]}',
    ];
    expect(parse(lines.join('\n'))).toEqual({
      world: 3,
      transfers: [
        { from: 0, to: 1, bytes: 65536 },
        { from: 1, to: 2, bytes: 8, notBefore: 12_500, after: [0] },
        { from: 2, to: 0, bytes: 0, after: [1] },
        { from: 1, to: 0, bytes: 1, after: [0, 1] },
      ],
    });
  });

  const trace = (...lines: string[]) =>
    ['{"from":0,"to":1,"bytes":8,"id":"a"}', ...lines].join('\n');

  test.each([
    ['', /the matrix is empty/],
    ['from,to,bytes\n', /there are no transfers/],
    ['0,1\n2', /not square/],
    ['5,0\n0,5', /there are no transfers/],
    ['from,to,bytes\n0,1', /file, line 2: there are 2 values, not 3/],
    ['from,to,bytes\n0,1,8\n\n0,x,8', /line 4: to is "x", not a rank/],
    ['from,to,bytes\n0,1,2.5', /line 2: bytes: "2.5" is not a whole number of bytes/],
    ['from,to,bytes\n1,1,8', /line 2: rank 1 sends to itself/],
    [trace('{"from":0,'), /line 2: it is not JSON/],
    [trace('[]'), /line 2: it is not a JSON object/],
    [trace('{"from":0,"to":1}'), /line 2: bytes is undefined, not a number of bytes/],
    [trace('{"from":-1,"to":1,"bytes":8}'), /line 2: from is -1, not a rank/],
    [trace('{"from":0,"to":1,"bytes":8,"size":1}'), /"size" is not a key of a transfer/],
    [trace('{"from":0,"to":1,"bytes":8,"at":-1}'), /line 2: at is -1, not a time in microseconds/],
    [
      trace('{"from":0,"to":1,"bytes":8,"id":"a"}'),
      /line 2: id "a" is already used in an earlier line/,
    ],
    [trace('{"from":0,"to":1,"bytes":8,"id":{}}'), /\{\} is not an id/],
    [trace('{"from":1,"to":0,"bytes":8,"after":"b"}'), /after names "b", but no earlier line has/],
    [
      trace('{"from":2,"to":0,"bytes":8,"after":"a"}'),
      /line 2: rank 2 cannot know when the transfer from rank 0 to rank 1 is complete/,
    ],
  ])('%j is refused', (text, why) => {
    expect(() => parse(text)).toThrow(why);
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'BAD_USAGE' }));
  });
});

test.each([
  ['moe-zipf.csv', 12],
  ['kv-burst.jsonl', 8],
])('the example %s is one', (name, count) => {
  const text = readFileSync(new URL(`../../examples/traffic/${name}`, import.meta.url), 'utf8');
  const { world, transfers } = parseTrafficFile(text, name);
  expect(world).toBe(4);
  expect(transfers.filter(({ bytes }) => bytes > 0)).toHaveLength(count);
});
