import { median } from '../../measure/quantile.js';
import type { Direction, Finding, Pace, Retest, Who } from '../../results/finding.js';
import type { Places } from './cells.js';
import { type Side, sidesOf } from './sides.js';
import { type Suspect, type Symptom, shareLost, standingStill } from './suspects.js';
import { evidenceOf, type Measured, nextStep } from './words.js';

export interface RetestResult {
  readonly suspect: Suspect;
  readonly retests: readonly Retest[];
  readonly pace: readonly Pace[];
}

/** Measured alone, this much less is believed. */
const leastSlow = Math.log(0.9);
const leastLate = Math.log(1.4);
const leastStall = Math.log(2.5);
const leastResent = 4;

/** The findings about one suspect; empty when it was healthy alone. */
export function conclude({ suspect, retests, pace }: RetestResult, places: Places): Finding[] {
  const still = standingStill(pace).filter(({ rank }) => suspect.ranks.includes(rank));
  if (suspect.kind === 'place' && still.length > 0) {
    return still.map(({ rank, share }) => rankFinding(rank, share, suspect, pace, places));
  }
  const sides = sidesOf(suspect, retests);
  // Only who looked so before: on a busy host TCP sends a few segments again without any loss.
  const sentAgain = has(suspect.symptoms, 'loss') || has(suspect.symptoms, 'stall');
  const lossy = sentAgain ? lossySides(sides) : [];
  const rails = new Set(lossy.map(({ rail }) => rail));
  const rest = sides.filter(({ rail }) => !rails.has(rail));
  const slow = rest.filter(({ bandwidth }) => Math.log(bandwidth) <= leastSlow);
  const worst = Math.min(
    0,
    ...suspect.symptoms.filter((s) => s.metric === 'slow').map((s) => s.effect),
  );
  // A little slower alone does not bear out what was much slower before.
  const borneOut = slow.filter(({ bandwidth }) => Math.log(bandwidth) <= worst / 2);
  const slowRails = new Set(borneOut.map(({ rail }) => rail));
  const late = rest.filter((side) => !slowRails.has(side.rail) && isLate(side, suspect));
  const about = (symptom: Measured, some: readonly Side[]) =>
    findingsAbout(symptom, some, sides, suspect, places);
  return [...about('loss', lossy), ...about('slow', borneOut), ...about('late', late)];
}

/** Beside a rail that surely loses, one with lesser signs of it does so, too: losses come by chance. */
function lossySides(sides: readonly Side[]): Side[] {
  const surely = ({ resent, resentControl }: Side) =>
    resent >= leastResent && resent >= 4 * resentControl;
  const maybe = ({ resent, resentControl, rail }: Side) =>
    resent > resentControl &&
    (resent > 1 ||
      sides.some((one) => one.rail === rail && Math.log(one.latencyMean) >= leastStall));
  return sides.some(surely) ? sides.filter((side) => surely(side) || maybe(side)) : [];
}

const isLate = ({ latency, latencyMean }: Side, { symptoms }: Suspect): boolean =>
  (has(symptoms, 'late') && Math.log(latency) >= leastLate) ||
  (has(symptoms, 'stall') && Math.log(latencyMean) >= leastStall);

const has = (symptoms: readonly Symptom[], metric: Symptom['metric']): boolean =>
  symptoms.some((symptom) => symptom.metric === metric);

function findingsAbout(
  symptom: Measured,
  bad: readonly Side[],
  all: readonly Side[],
  suspect: Suspect,
  places: Places,
): Finding[] {
  if (bad.length === 0) return [];
  const rails = [...new Set(bad.map(({ rail }) => rail))];
  const everyRail = rails.length === new Set(all.map(({ rail }) => rail)).size;
  const groups =
    everyRail && sameWays(bad) ? [bad] : rails.map((r) => bad.filter((s) => s.rail === r));
  return groups.map((sides) => {
    const ways = new Set(sides.map(({ way }) => way));
    const direction: Direction = symptom === 'loss' || ways.size > 1 ? 'both' : [...ways][0]!;
    const oneRail =
      suspect.kind === 'rail' || groups.length > 1 || !everyRail ? sides[0]!.rail : undefined;
    const subject = subjectOf(suspect, oneRail, direction, places);
    const effect = effectOf(symptom, sides);
    const resent = Math.max(...sides.map((side) => side.resent));
    const alone = median(sides.flatMap((side) => side.alone ?? []));
    const figures = { effect, resent, alone };
    return {
      ...subject,
      symptom,
      effect,
      confidence: confidenceOf(suspect, symptom, sigmasAlone(symptom, effect, figures.resent)),
      evidence: evidenceOf({ ...subject, symptom }, figures),
      next: nextStep({ ...subject, symptom }),
    };
  });
}

const sameWays = (sides: readonly Side[]): boolean => {
  const waysOf = (rail: number) =>
    sides
      .filter((side) => side.rail === rail)
      .map(({ way }) => way)
      .sort()
      .join();
  return new Set(sides.map(({ rail }) => waysOf(rail))).size === 1;
};

const effectOf = (symptom: Measured, sides: readonly Side[]): number => {
  if (symptom !== 'late') return median(sides.map(({ bandwidth }) => bandwidth));
  return median(sides.map(({ latency, latencyMean }) => Math.max(latency, latencyMean)));
};

function subjectOf(
  { kind, ranks, part }: Suspect,
  rail: number | undefined,
  direction: Direction,
  { hosts, nics }: Places,
): Pick<Finding, 'cause' | 'who'> {
  const onRail: Partial<Who> = rail === undefined ? {} : { rail, nic: nics[rail]! };
  if (kind === 'rail') return { cause: 'rail', who: { ...onRail, direction: 'both' } };
  if (part) {
    const way = part.kind === 'uplink' ? direction : 'both';
    return { cause: part.kind, who: { ...part.who, ...onRail, direction: way } };
  }
  const host = hosts[ranks[0]!]!;
  if (kind === 'pair') {
    const [a, b] = direction === 'in' ? [ranks[1]!, ranks[0]!] : [ranks[0]!, ranks[1]!];
    const name = (rank: number) => (hosts[a] === hosts[b] ? `rank ${rank}` : hosts[rank]!);
    const way = direction === 'both' ? 'both' : 'out';
    return { cause: 'pair', who: { from: name(a), to: name(b), ...onRail, direction: way } };
  }
  if (rail !== undefined) return { cause: 'nic', who: { host, ...onRail, direction } };
  const mates = hosts.filter((one) => one === host).length;
  const oneOfMany = ranks.length === 1 && mates > 1;
  if (oneOfMany) return { cause: 'rank', who: { rank: ranks[0]!, host, direction } };
  return { cause: 'host', who: { host, ...(nics.length === 1 && { nic: nics[0]! }), direction } };
}

function rankFinding(
  rank: number,
  share: number,
  suspect: Suspect,
  pace: readonly Pace[],
  { hosts }: Places,
): Finding {
  const own = pace.find((one) => one.rank === rank)!;
  const usual = median(pace.filter((one) => one.rank !== rank).map(shareLost));
  const who: Who = { rank, host: hosts[rank]!, direction: 'both' };
  const subject = { cause: 'rank', who, symptom: 'stalls' } as const;
  return {
    ...subject,
    effect: 1 - share,
    confidence: confidenceOf(suspect, 'stalls', share / 0.04),
    evidence: evidenceOf(subject, { share, usual, longestMs: own.longestMs }),
    next: nextStep(subject),
  };
}

/** Half at 4 times the noise, 94 % at 16; less where not all of the cells in question agree. Never certain. */
const confidenceFrom = (sigmas: number, consistency: number): number =>
  Math.round(Math.min(0.99, 1 - 2 ** (-sigmas / 4)) * consistency * 100) / 100;

function confidenceOf({ symptoms }: Suspect, symptom: Measured, alone: number): number {
  const relevant = symptoms.filter(({ metric }) => tellingMetrics[symptom].includes(metric));
  const scanned = (relevant.length > 0 ? relevant : symptoms).map(({ sigmas, consistency }) =>
    confidenceFrom(sigmas, consistency),
  );
  // Two looks at different times: wrong only if both are.
  const both = 1 - (1 - Math.max(...scanned)) * (1 - confidenceFrom(alone, 1));
  return Math.round(Math.min(0.99, both) * 100) / 100;
}

const tellingMetrics: Record<Measured, readonly Symptom['metric'][]> = {
  slow: ['slow'],
  loss: ['loss', 'stall'],
  late: ['late', 'stall'],
  stalls: ['pace'],
  down: [],
};

/** How far the retest was from healthy, in units of what is usual. */
function sigmasAlone(symptom: Measured, effect: number, resent: number): number {
  if (symptom === 'loss') return resent;
  return Math.abs(Math.log(effect)) / (symptom === 'slow' ? 0.04 : 0.25);
}
