import { seededRandom, seedOf, shuffled } from '../../measure/seeded-random.js';
import { mostTopK, type RoutedTokens, weighed } from '../../plan/routing.js';
import {
  type FileLine,
  lineError,
  linesOf,
  Mistake,
  objectOf,
  readLines,
} from '../../plan/text-lines.js';
import { inputText } from '../input-file.js';

/** A line of a routing file: the experts of a token, or how many tokens of a rank go to an expert. */
type Line =
  | { readonly rank: number; readonly token: number; readonly experts: readonly number[] }
  | { readonly rank: number; readonly expert: number; readonly tokens: number };

interface Read {
  readonly path: string;
  readonly experts: number;
  /** Most experts of a token made from counts. */
  readonly topK: number;
  readonly seed: number;
}

const hint = 'docs/workloads.md describes routing files.';
const exists = '--routing is uniform, zipf:S, hot:N[:SHARE] or a file that exists on every host.';

/** The tokens of every rank that a file names. */
export const readRouting = (options: Read): RoutedTokens[] =>
  parseRouting(inputText(options.path, exists), options);

/** The same from the file's text. */
export function parseRouting(text: string, options: Read): RoutedTokens[] {
  const fail: Fail = (where, what) => {
    throw lineError(options.path, where, what, hint);
  };
  const lines = linesOf(text);
  const [first] = lines;
  if (first === undefined) return fail('line 1', 'the file has no lines');
  const json = first.text.startsWith('{');
  const read = json ? jsonLine : csvLine(first, fail);
  const own = json ? lines : lines.slice(1);
  const records = readLines(own, options.path, hint, (one, index): Record => {
    const line = read(one);
    checkLine(line, options.experts);
    return { where: own[index]!.where, line };
  });
  if (records.length === 0) return fail(first.where, 'no line follows the headings');
  return tokensOf(records, options, fail);
}

type Fail = (where: string, what: string) => never;
interface Record {
  readonly where: string;
  readonly line: Line;
}

const byToken = 'rank,token,experts';
const byCount = 'rank,expert,tokens';

function csvLine(head: FileLine, fail: Fail) {
  const titles = head.text.replaceAll(' ', '').toLowerCase();
  if (titles !== byToken && titles !== byCount) {
    return fail(head.where, `the headings are "${head.text}", not ${byToken} or ${byCount}`);
  }
  return (text: string): Line => {
    const cells = text.split(',').map((cell) => cell.trim());
    if (cells.length !== 3) throw new Mistake(`there are ${cells.length} values, not 3`);
    const whole = (value: string) => (/^\d+$/.test(value) ? Number(value) : Number.NaN);
    const [rank, second] = cells.map(whole) as [number, number];
    if (titles === byCount) return { rank, expert: second, tokens: whole(cells[2]!) };
    return { rank, token: second, experts: cells[2]!.split(';').map((one) => whole(one.trim())) };
  };
}

function jsonLine(text: string): Line {
  const { rank, token, experts, expert, tokens } = objectOf(text);
  if (typeof rank === 'number' && typeof token === 'number' && Array.isArray(experts)) {
    return { rank, token, experts };
  }
  if (typeof rank === 'number' && typeof expert === 'number' && typeof tokens === 'number') {
    return { rank, expert, tokens };
  }
  throw new Mistake('a line is {"rank","token","experts":[…]} or {"rank","expert","tokens"}');
}

const isWhole = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;

function checkLine(line: Line, experts: number): void {
  const check = (name: string, value: number, most: number) => {
    if (!isWhole(value, most)) {
      throw new Mistake(`\`${name}\` is not a whole number from 0 to ${most}`);
    }
  };
  check('rank', line.rank, 32_767);
  if ('expert' in line) {
    check('expert', line.expert, experts - 1);
    check('tokens', line.tokens, 2 ** 24);
    return;
  }
  check('token', line.token, 2 ** 24);
  for (const expert of line.experts) check('experts', expert, experts - 1);
  if (line.experts.length === 0 || line.experts.length > mostTopK) {
    throw new Mistake(`a token has 1 to ${mostTopK} experts, not ${line.experts.length}`);
  }
  if (new Set(line.experts).size < line.experts.length)
    throw new Mistake('an expert appears twice');
}

function tokensOf(records: readonly Record[], options: Read, fail: Fail): RoutedTokens[] {
  const counts = 'expert' in records[0]!.line;
  const byRank: Record[][] = [];
  for (const record of records) {
    if ('expert' in record.line !== counts) {
      fail(record.where, 'a file has lines with tokens or lines with counts, not both');
    }
    const { rank } = record.line;
    byRank[rank] ??= [];
    byRank[rank].push(record);
  }
  if (counts) refuseTooMany(records, fail);
  return Array.from(byRank, (own, rank) => {
    if (own === undefined) return fail(records.at(-1)!.where, `rank ${rank} has no line`);
    const random = seededRandom(seedOf(options.seed, rank + 1));
    const { starts, experts } = counts ? dealt(own, options, random, fail) : listed(own, fail);
    return weighed(starts, experts, random);
  });
}

/** All choices of all ranks are held in memory. */
const mostChoices = 2 ** 24;

function refuseTooMany(records: readonly Record[], fail: Fail): void {
  let sum = 0;
  for (const { where, line } of records) {
    sum += 'expert' in line ? line.tokens : 0;
    if (sum > mostChoices) fail(where, `the file has more than ${mostChoices} choices of experts`);
  }
}

type Lists = Pick<RoutedTokens, 'starts' | 'experts'>;

/** Tokens 0, 1, … of a rank, each once, in any order. */
function listed(own: readonly Record[], fail: Fail): Lists {
  const lists: number[][] = [];
  for (const { where, line } of own) {
    if ('expert' in line) continue;
    const { rank, token, experts } = line;
    if (lists[token]) fail(where, `token ${token} of rank ${rank} appears twice`);
    lists[token] = [...experts];
  }
  for (let token = 0; token < lists.length; token++) {
    if (!lists[token])
      fail(own.at(-1)!.where, `token ${token} of rank ${own[0]!.line.rank} is missing`);
  }
  const starts = new Uint32Array(lists.length + 1);
  lists.forEach((list, token) => {
    starts[token + 1] = starts[token]! + list.length;
  });
  return { starts, experts: Uint32Array.from(lists.flat()) };
}

/**
 * Deals the choices out to as few tokens as possible, each with at most `topK` experts and none twice: those of one
 * expert follow each other and never go round to the same token. Which token is where is random.
 */
function dealt(own: readonly Record[], { topK }: Read, random: () => number, fail: Fail): Lists {
  const counts = new Map<number, number>();
  for (const { where, line } of own) {
    if (!('expert' in line)) continue;
    if (counts.has(line.expert)) fail(where, `expert ${line.expert} appears twice`);
    counts.set(line.expert, line.tokens);
  }
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (all === 0) fail(own.at(-1)!.where, `rank ${own[0]!.line.rank} has no tokens`);
  const tokens = Math.max(Math.ceil(all / topK), ...counts.values());
  const choices = new Uint32Array(all);
  let next = 0;
  for (const [expert, count] of [...counts].sort(([a], [b]) => a - b)) {
    choices.fill(expert, next, next + count);
    next += count;
  }
  const [starts, experts] = [new Uint32Array(tokens + 1), new Uint32Array(all)];
  let [token, at] = [0, 0];
  for (const place of shuffled(tokens, random)) {
    for (let choice = place; choice < all; choice += tokens) experts[at++] = choices[choice]!;
    starts[++token] = at;
  }
  return { starts, experts };
}
