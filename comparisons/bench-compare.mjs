// How often is `weft compare` wrong, on real runs? Commands are run many times; from these pools of runs many
// comparisons are drawn at random. They overlap, so each line also says how many comparisons without a common run
// the pool holds:
//   equal, in turns     5 against 5 consecutive runs of one command, A and B in random order: called different?
//   equal, sequential   the same as `weft ab --rounds 10` does it: called different at any of its looks?
//   equal, history      one run against a later one, with 5, 10 or 20 earlier ones: called different?
//   2x, single          a lab at 250 Mbps against one at 125: "slower", or "unclear" with the right ratio?
//   10 %, in turns      a lab at 250 Mbps against one at 227, 5 runs each in turns: every row called slower?
//   npm run bench:compare -- [RUNS]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compareRuns } from '../dist/analysis/compare/compare.js';
import { earlierRunOf } from '../dist/analysis/compare/earlier-runs.js';
import { looksOf } from '../dist/analysis/compare/looks.js';
import { seededRandom } from '../dist/measure/seeded-random.js';
import { readRun } from '../dist/results/read-run.js';

const bin = resolve(import.meta.dirname, '../bin/weft');
const folder = mkdtempSync(join(tmpdir(), 'weft-compare-'));
const count = Number(process.argv[2] ?? 40);
const draws = 200;
const random = seededRandom(1);
const below = (limit) => Math.floor(random() * limit);

const weft = (words) =>
  execFileSync(process.execPath, [bin, ...words], { stdio: 'ignore', timeout: 120_000 });

let files = 0;
function measure(words) {
  const file = join(folder, `${files++}.jsonl`);
  weft([...words, '--quiet', '--out', file]);
  return readRun(file).run;
}

const small = '-b 64K -e 4M -f 8 --budget-ms 40 --columns SinglePin,MultiPin --channels 2'.split(
  ' ',
);
const large = '-b 1M -e 2M -n 5 --columns SinglePin,MultiPin'.split(' ');
const local = {
  'write shm': ['write', '--provider', 'shm', ...small],
  'write tcp': ['write', '--provider', 'tcp', ...small],
  'all2all tcp': ['all2all', '--provider', 'tcp', ...small],
};
const rates = { 250: '250mbit', 227: '227mbit', 125: '125mbit' };
const labName = (rate) => `compare-${rate}`;

/** Runs of the three labs in turns. */
function measureLabs() {
  const pools = Object.fromEntries(Object.keys(rates).map((rate) => [rate, []]));
  try {
    for (const [rate, text] of Object.entries(rates)) {
      weft(['lab', 'up', '--name', labName(rate), '--hosts', '2', '--nics', '2', '--rate', text]);
    }
    for (let i = 0; i < count; i++) {
      for (const [rate, runs] of Object.entries(pools)) {
        runs.push(measure(['lab', 'run', '--name', labName(rate), '--', 'write', ...large]));
      }
    }
  } finally {
    for (const rate of Object.keys(rates)) weft(['lab', 'down', '--name', labName(rate)]);
  }
  return pools;
}

const accuses = ({ rows }) =>
  rows.some(({ verdict }) => verdict === 'slower' || verdict === 'faster');

/** Consecutive runs dealt to two sides, each pair in random order. */
function dealt(runs, rounds) {
  const from = below(runs.length - 2 * rounds + 1);
  const sides = [[], []];
  for (let round = 0; round < rounds; round++) {
    const first = below(2);
    sides[first].push(runs[from + 2 * round]);
    sides[1 - first].push(runs[from + 2 * round + 1]);
  }
  return sides;
}

function inTurns(runs) {
  const comparison = compareRuns(...dealt(runs, 5));
  if (comparison.method !== 'in turns') throw new Error(`not in turns: ${comparison.method}`);
  return accuses(comparison);
}

function sequential(runs) {
  const [a, b] = dealt(runs, 10);
  return looksOf(10).some(({ rounds, errorRate }) =>
    accuses(compareRuns(a.slice(0, rounds), b.slice(0, rounds), { errorRate })),
  );
}

/** A, then B, and some of the runs before B. */
function withHistory(runs, length) {
  const last = length + 1 + below(runs.length - length - 1);
  const others = shuffled(runs.slice(0, last));
  const [a, ...history] = others.slice(0, length + 1);
  const comparison = compareRuns([a], [runs[last]], { history: history.map(earlierRunOf) });
  if (comparison.noise.earlierRuns !== length) throw new Error('earlier runs were not found');
  return comparison;
}

function shuffled(list) {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

let missed = false;
/** One line: how often something happened, and whether that is as often as it should be. */
function tell(name, times, of, runsEach, holds, target) {
  const met = holds(times / of);
  missed ||= !met;
  const disjoint = Math.floor(count / runsEach);
  console.log(
    `${name.padEnd(48)} ${String(times).padStart(4)} of ${of} (${disjoint} disjoint)   ${target} ${met ? 'met' : 'MISSED'}`,
  );
}
const often = (check) => Array.from({ length: draws }, check).filter(Boolean).length;
const rarely = (share) => share <= 0.01;

function equal(name, runs) {
  const target = 'at most 1 in 100';
  tell(
    `${name}, equal, in turns: different`,
    often(() => inTurns(runs)),
    draws,
    10,
    rarely,
    target,
  );
  tell(
    `${name}, equal, sequential: different`,
    often(() => sequential(runs)),
    draws,
    20,
    rarely,
    target,
  );
  for (const length of [5, 10, 20]) {
    const accused = often(() => accuses(withHistory(runs, length)));
    tell(
      `${name}, equal, ${length} earlier runs: different`,
      accused,
      draws,
      length + 2,
      rarely,
      target,
    );
  }
}

function changed({ 250: fast, 227: tenth, 125: half }) {
  const right = ({ verdict, ratio }) =>
    verdict === 'slower' || (verdict === 'unclear' && ratio > 1.8 && ratio < 2.2);
  const pick = (runs) => runs[below(runs.length)];
  const single = often(() => compareRuns([pick(fast)], [pick(half)]).rows.every(right));
  tell('lab 2x, single: slower, or unclear 2.0x', single, draws, 1, (share) => share === 1, 'all');
  const known = often(() => {
    const history = shuffled(fast).slice(0, 11);
    const options = { history: history.slice(1).map(earlierRunOf) };
    return compareRuns([history[0]], [half.at(-1)], options).rows.every(
      (row) => row.verdict === 'slower',
    );
  });
  tell(
    'lab 2x, 10 earlier runs: slower in all rows',
    known,
    draws,
    count,
    (share) => share === 1,
    'all',
  );
  let rowsFound = 0;
  const turns = often(() => {
    const from = below(fast.length - 4);
    const { rows } = compareRuns(fast.slice(from, from + 5), tenth.slice(from, from + 5));
    const found = rows.filter(({ verdict }) => verdict === 'slower').length;
    rowsFound += found / rows.length;
    return found === rows.length;
  });
  console.log(`lab 10 %, in turns: ${((100 * rowsFound) / draws).toFixed(1)} % of rows slower`);
  tell(
    'lab 10 %, in turns: slower in all rows',
    turns,
    draws,
    5,
    (share) => share >= 0.95,
    'at least 95 in 100',
  );
}

console.log(`${draws} comparisons each, drawn at random from ${count} runs of each command`);
try {
  for (const [name, words] of Object.entries(local)) {
    equal(
      name,
      Array.from({ length: count }, () => measure(words)),
    );
  }
  const labs = measureLabs();
  equal('write lab', labs[250]);
  changed(labs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = missed ? 1 : 0;
