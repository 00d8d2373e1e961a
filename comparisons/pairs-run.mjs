// A run file of `pairs` as a large cluster would leave it, with one slow rank and one slow pair in it:
//   node comparisons/pairs-run.mjs --ranks 1024 [--rails 2] [--per-rail] -o FILE.jsonl
import { closeSync, openSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { figuresOf, oneToEachBytes, pingPongBytes } from '../dist/measure/figures.js';
import { bothWays, roundsOf } from '../dist/plan/rounds.js';
import { measuredRow } from '../dist/results/rows.js';

const ranksPerHost = 8;
const bytes = 2 ** 20;
const slowRank = 17;
const slowPair = [3, 900];

/** Every line, in the order in which the ranks measure. */
export function* pairsRunLines({ ranks, rails = 1, perRail = false }) {
  const hostOfRank = Array.from(
    { length: ranks },
    (_, rank) => `node${String(Math.floor(rank / ranksPerHost)).padStart(4, '0')}`,
  );
  const nics = Array.from({ length: rails }, (_, rail) => `rdmap${rail}s0`);
  const random = randomOf(7);
  const line = (name, content) => `${JSON.stringify({ line: name, ...content })}\n`;
  yield line('header', headerOf(hostOfRank, nics, perRail));
  const rounds = roundsOf(hostOfRank);
  for (const round of rounds) {
    for (const pairs of bothWays(round)) {
      for (const rail of perRail ? nics : [undefined]) {
        for (const latency of [false, true]) {
          for (const pair of pairs) yield line('row', rowOf(pair, { rail, latency, random }));
        }
      }
    }
  }
  if (!perRail && rails > 1) {
    for (const rail of nics) {
      for (const pair of rounds[0]) {
        yield line('row', { ...rowOf(pair, { rail, latency: false, random }), column: 'Rail' });
      }
    }
  }
  yield line('footer', footerOf(hostOfRank));
}

/** Numbers between 0 and 1, the same in every run. */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function rowOf([from, to], { rail, latency, random }) {
  const slow =
    from === slowRank || to === slowRank
      ? 1.8
      : from === slowPair[0] && to === slowPair[1]
        ? 2.5
        : 1;
  const usual = latency ? 18_000 * (slow > 1 ? 1.4 : 1) : 90_000 * slow;
  const samples = Array.from({ length: 16 }, () => Math.round(usual * (0.97 + 0.06 * random())));
  const size = latency ? 8 : bytes;
  const figures = figuresOf({
    bytes: latency ? pingPongBytes(size) : oneToEachBytes(size),
    meanNanoseconds: samples.reduce((sum, one) => sum + one, 0) / samples.length,
    ...(!latency && { allowedGbps: 100, boundNanoseconds: (size * 8) / 100 }),
  });
  return measuredRow({
    kind: 'pair',
    column: latency ? 'Latency' : 'Bandwidth',
    bytes: size,
    samples,
    figures,
    roundTrip: latency,
    checked: { bytes: 2 * size, wrong: 0 },
    labels: { memory: 'pinned', from, to, ...(rail !== undefined && { rail }) },
    path: { nics: [], asPlanned: true },
    resent: 0,
  });
}

const headerOf = (hostOfRank, nics, perRail) => ({
  schema: 'weft.run/1',
  id: `20260101T000000000Z-pairs-${hostOfRank.length}`,
  benchmark: 'pairs',
  startedAt: '2026-01-01T00:00:00.000Z',
  world: {
    ranks: hostOfRank.length,
    hosts: [...new Set(hostOfRank)],
    launcher: 'slurm',
    hostOfRank,
    facts: { nics: `${nics.length} EFA`, kernel: '6.1.0' },
  },
  fabric: {
    library: '/opt/amazon/efa/lib/libfabric.so.1',
    version: '1.22',
    provider: 'efa',
    channels: nics.map((nic) => ({ nic, lineRateGbps: 100 })),
  },
  settings: { minBytes: bytes, maxBytes: bytes, budgetMs: 1000, own: { perRail } },
});

const footerOf = (hostOfRank) => ({
  endedAt: '2026-01-01T01:00:00.000Z',
  outcome: 'passed',
  errors: [],
  diagnosis: {
    retested: true,
    findings: [
      {
        cause: 'rank',
        who: { rank: slowRank, host: hostOfRank[slowRank], direction: 'both' },
        symptom: 'slow',
        effect: 0.56,
        confidence: 0.97,
        evidence: 'Measured alone, it carries 56 % of what a healthy rank carries.',
        next: 'Compare its PCIe link and its cores with those of the others.',
      },
    ],
    notConfirmed: [],
    pace: hostOfRank.map((_, rank) => {
      return { rank, wallMs: 1000, lostMs: 1, queuedMs: 0, longestMs: 1 };
    }),
    retests: [],
  },
});

function write({ out, ranks, rails, 'per-rail': perRail }) {
  const file = openSync(out, 'wx');
  let piece = '';
  const put = () => {
    writeSync(file, piece);
    piece = '';
  };
  for (const line of pairsRunLines({ ranks: Number(ranks), rails: Number(rails), perRail })) {
    piece += line;
    if (piece.length > 2 ** 22) put();
  }
  put();
  closeSync(file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', short: 'o', default: 'pairs.jsonl' },
      ranks: { type: 'string', default: '1024' },
      rails: { type: 'string', default: '1' },
      'per-rail': { type: 'boolean', default: false },
    },
  });
  write(values);
}
