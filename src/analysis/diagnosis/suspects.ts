import { groupBy } from '../../measure/group.js';
import { median } from '../../measure/quantile.js';
import type { Pace } from '../../results/finding.js';
import type { Cause } from './causes.js';
import { type Cell, type PairCell, type PairMatrix, type Places, pairKey } from './cells.js';
import { type Explanation, explainCells, type Rule } from './explain-cells.js';
import { distanceOf, isNetworkKind, keyOfPart, type NetworkPart, passes } from './network.js';

export interface Symptom {
  readonly metric: 'slow' | 'late' | 'stall' | 'loss' | 'pace';
  /** A logarithm, negative: of bandwidth, or of the inverse of what should be small. */
  readonly effect: number;
  readonly sigmas: number;
  readonly consistency: number;
  readonly cause?: Cause;
}

/** A place that looks bad: a host (or one rank of it), a pair, a rail, or a part of the network between hosts. */
export interface Suspect {
  readonly kind: 'place' | 'pair' | 'rail' | 'network';
  /** Of a place all that are meant; of a pair from and to. */
  readonly ranks: readonly number[];
  readonly rail?: number;
  /** Of the network. */
  readonly part?: NetworkPart;
  readonly symptoms: readonly Symptom[];
}

export interface ScanResult {
  readonly matrix: PairMatrix;
  /** Each rail alone, where the matrix is over all rails. */
  readonly railCells: readonly PairCell[];
  readonly pace: readonly Pace[];
}

/** Bandwidth: 12 % less than the healthy. */
export const slowRule: Rule = { leastNoise: 0.02, leastEffect: -Math.log(0.88) };
/** The median latency: half as much again and more. Ways through a fabric differ, and so do hosts. */
const lateRule: Rule = { leastNoise: 0.1, leastEffect: Math.log(1.6) };
/** The mean latency: three times as much. It has every stall in it, so it is loud. */
const stallRule: Rule = { leastNoise: 0.25, leastEffect: Math.log(3) };
/** Segments sent again, as 1 + n: from 4 up. One or two come from a busy host’s late acknowledgements. */
const lossRule: Rule = { leastNoise: 0.35, leastEffect: Math.log(5) };

const metrics: [Symptom['metric'], Rule, (cell: PairCell) => number | undefined][] = [
  [
    'slow',
    slowRule,
    ({ gbps }) => (gbps === undefined ? undefined : Math.log(Math.max(gbps, 1e-9))),
  ],
  [
    'late',
    lateRule,
    ({ latencyNs: ns }) => (ns === undefined ? undefined : -Math.log(Math.max(ns, 1))),
  ],
  [
    'stall',
    stallRule,
    ({ latencyMeanNs: ns }) => (ns === undefined ? undefined : -Math.log(Math.max(ns, 1))),
  ],
  ['loss', lossRule, ({ resent }) => (resent === undefined ? undefined : -Math.log(1 + resent))],
];

/** Everybody who looks bad, gravest first. None is accused yet: see `conclude`. */
export function findSuspects({ matrix, railCells, pace }: ScanResult): Suspect[] {
  const found = new Map<string, { suspect: Omit<Suspect, 'symptoms'>; symptoms: Symptom[] }>();
  const add = (suspect: Omit<Suspect, 'symptoms'>, symptom: Symptom) => {
    const part = suspect.part ? keyOfPart(suspect.part) : '';
    const key = `${suspect.kind} ${suspect.ranks.join(' ')} ${suspect.rail ?? ''} ${part}`;
    const entry = found.get(key) ?? { suspect, symptoms: [] };
    entry.symptoms.push(symptom);
    found.set(key, entry);
  };
  for (const { rank, share } of standingStill(pace)) {
    const ran = Math.log(Math.max(0.01, 1 - share));
    const symptom = { metric: 'pace', effect: ran, sigmas: share / 0.02, consistency: 1 } as const;
    add(placeOf([rank], matrix), symptom);
  }
  for (const [metric, rule, value] of metrics) {
    const cells = metric === 'loss' ? bothWays(matrix.cells) : matrix.cells;
    const some = cellsWith(cells, value);
    // A longer way takes longer, and more traffic meets there: only bandwidth tells of a bad part of the network.
    const explained =
      metric === 'slow'
        ? explainCells(some, matrix, rule)
        : explainCells(byDistance(some, matrix), { hosts: matrix.hosts, nics: matrix.nics }, rule);
    for (const explanation of explained) {
      add(suspectOf(explanation.cause, matrix), symptomOf(metric, explanation));
    }
  }
  const [metric, rule, value] = metrics[0]!;
  for (const explanation of explainCells(cellsWith(railCells, value), matrix, rule)) {
    const { kind, who } = explanation.cause;
    if (kind === 'rail') add({ kind, ranks: [], rail: who.rail! }, symptomOf(metric, explanation));
  }
  const suspects = [...found.values()].map(({ suspect, symptoms }) => ({ ...suspect, symptoms }));
  return withoutConsequences(suspects, matrix).sort((a, b) => gravity(b) - gravity(a));
}

const symptomOf = (metric: Symptom['metric'], explanation: Explanation): Symptom => {
  const { effect, sigmas, consistency, cause } = explanation;
  return { metric, effect, sigmas, consistency, cause };
};

const cellsWith = (
  cells: readonly PairCell[],
  value: (cell: PairCell) => number | undefined,
): Cell[] =>
  cells.flatMap((cell) => {
    const own = value(cell);
    return own === undefined ? [] : [{ from: cell.from, to: cell.to, rail: cell.rail, value: own }];
  });

/** Relative to what is usual between ranks as far apart. */
function byDistance(cells: readonly Cell[], places: Places): Cell[] {
  const groups = groupBy(cells, (cell) => distanceOf(places, cell));
  const usual = new Map(
    [...groups].map(([distance, own]) => [distance, median(own.map(({ value }) => value))]),
  );
  return cells.map((cell) => ({
    ...cell,
    value: cell.value - usual.get(distanceOf(places, cell))!,
  }));
}

/** What is lost one way delays the other: both ways of a pair are counted together, which also steadies few losses. */
function bothWays(cells: readonly PairCell[]): PairCell[] {
  const resent = new Map(cells.map((one) => [pairKey(one.from, one.to, one.rail), one.resent]));
  return cells.map((cell) => {
    const back = resent.get(pairKey(cell.to, cell.from, cell.rail));
    if (cell.resent === undefined || back === undefined) return cell;
    return { ...cell, resent: cell.resent + back };
  });
}

/** With one rank on a host, the rank and the host are one place. */
const placeOf = (ranks: readonly number[], { hosts }: Places): Omit<Suspect, 'symptoms'> => {
  const mates = [...hosts.keys()].filter((rank) => hosts[rank] === hosts[ranks[0]!]);
  return { kind: 'place', ranks: ranks.length === 1 && mates.length > 1 ? ranks : mates };
};

function suspectOf({ kind, ranks, who }: Cause, places: Places): Omit<Suspect, 'symptoms'> {
  if (isNetworkKind(kind)) return { kind: 'network', ranks, part: { kind, who } };
  if (kind === 'rail') return { kind, ranks, rail: who.rail! };
  if (kind === 'pair') return { kind, ranks: [...ranks].sort((a, b) => a - b) };
  return kind === 'rank' ? { kind: 'place', ranks } : placeOf(ranks, places);
}

/** A pair needs no cause of its own where one end is suspect itself, or a part of the network between them. */
const withoutConsequences = (suspects: readonly Suspect[], places: Places): Suspect[] => {
  const suspected = suspects.filter(({ kind }) => kind === 'place').flatMap(({ ranks }) => ranks);
  const parts = suspects.flatMap(({ part }) => part ?? []);
  return suspects.filter(({ kind, ranks: [from, to] }) => {
    if (kind !== 'pair') return true;
    if ([from!, to!].some((rank) => suspected.includes(rank))) return false;
    return !parts.some((part) => passes(part, { from: from!, to: to! }, places));
  });
};

const gravity = ({ symptoms }: Suspect): number =>
  Math.max(...symptoms.map(({ sigmas, consistency }) => sigmas * consistency));

/** Share of the time a rank's process did not run, less what it waited for a core: others may use that. */
export const shareLost = ({ lostMs, queuedMs, wallMs }: Pace): number =>
  wallMs <= 0 ? 0 : Math.max(0, lostMs - (queuedMs ?? 0)) / wallMs;

const leastShare = 0.04;

export function standingStill(pace: readonly Pace[]): { rank: number; share: number }[] {
  return pace.flatMap((own) => {
    const share = shareLost(own);
    const others = pace.filter(({ rank }) => rank !== own.rank).map(shareLost);
    const usual = median(others);
    const apart = share >= usual + leastShare && share >= 3 * usual;
    return apart ? [{ rank: own.rank, share }] : [];
  });
}
