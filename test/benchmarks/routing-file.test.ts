import { describe, expect, test } from 'vitest';
import { parseRouting } from '../../src/benchmarks/moe/routing-file.js';

const options = { path: 'trace.csv', experts: 8, topK: 2, seed: 1 };
const parse = (...lines: string[]) =>
  parseRouting(lines.join('\n'), options).map(({ starts, experts, count }) =>
    Array.from({ length: count }, (_, token) => [
      ...experts.subarray(starts[token], starts[token + 1]),
    ]),
  );

describe('a routing file', () => {
  test('names the experts of each token, as CSV or JSON lines', () => {
    const wanted = [[[3, 1], [7]], [[0, 2]]];
    expect(parse('# a comment', 'rank,token,experts', '0,1,7', '', '0, 0, 3;1', '1,0,0;2')).toEqual(
      wanted,
    );
    expect(
      parse(
        '{"rank":0,"token":0,"experts":[3,1]}',
        '{"rank":0,"token":1,"experts":[7]}',
        '{"rank":1,"token":0,"experts":[0,2]}',
      ),
    ).toEqual(wanted);
  });

  test('or counts them per rank and expert: every choice is dealt out, none twice to a token', () => {
    const [first, second] = parse('rank,expert,tokens', '0,0,3', '0,1,3', '0,5,1', '1,2,4');
    expect(first).toHaveLength(4);
    expect(first!.flat().sort()).toEqual([0, 0, 0, 1, 1, 1, 5]);
    for (const own of first!) {
      expect(own.length).toBeGreaterThan(0);
      expect(own.length).toBeLessThanOrEqual(2);
      expect(new Set(own).size).toBe(own.length);
    }
    // More than the top-k allows for: an expert that everybody chose decides.
    expect(second).toEqual([[2], [2], [2], [2]]);
  });

  test.for<[what: string, lines: string[], message: RegExp]>([
    ['no lines', ['# nothing'], /line 1: the file has no lines/],
    ['other headings', ['a,b'], /line 1: the headings are "a,b", not rank,token,experts or/],
    ['headings alone', ['rank,token,experts'], /line 1: no line follows the headings/],
    ['too few values', ['rank,token,experts', '0,0'], /line 2: there are 2 values, not 3/],
    ['no number', ['rank,token,experts', '0,x,1'], /line 2: `token` is not a whole number/],
    ['an unknown expert', ['rank,token,experts', '0,0,8'], /line 2: `experts` .* from 0 to 7/],
    ['an expert twice', ['rank,token,experts', '0,0,1;1'], /line 2: an expert appears twice/],
    ['a token twice', ['rank,token,experts', '0,0,1', '0,0,2'], /line 3: token 0 .* appears twice/],
    ['a gap', ['rank,token,experts', '0,1,1'], /line 2: token 0 of rank 0 is missing/],
    ['a rank left out', ['rank,token,experts', '1,0,1'], /line 2: rank 0 has no line/],
    [
      'too many choices',
      ['rank,expert,tokens', '0,0,16777216', '1,0,1'],
      /line 3: the file has more than 16777216 choices of experts/,
    ],
    ['broken JSON', ['{"rank":0,'], /trace.csv, line 1: it is not JSON/],
    ['other JSON', ['{"rank":0}'], /line 1: a line is /],
    [
      'JSON without keys',
      ['{"rank":0,"token":0,"experts":[1]}', 'null'],
      /line 2: it is not a JSON object/,
    ],
    [
      'both kinds',
      ['{"rank":0,"token":0,"experts":[1]}', '{"rank":0,"expert":1,"tokens":2}'],
      /line 2: a file has lines with tokens or lines with counts, not both/,
    ],
    ['a count twice', ['rank,expert,tokens', '0,1,1', '0,1,2'], /line 3: expert 1 appears twice/],
    ['no tokens', ['rank,expert,tokens', '0,1,0'], /line 2: rank 0 has no tokens/],
  ])('with %s is refused with its line', ([, lines, message]) => {
    expect(() => parse(...lines)).toThrow(message);
  });
});
