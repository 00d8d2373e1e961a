// Comparisons in turns: A, B, A, B, … in one run, so that what disturbs the machine disturbs both. Each turn gives a
// median. `report` compares the lower quartiles of those: over TCP a run is fast or three times slower by the luck of its
// connection, whoever runs it, and the median of a few runs would compare lucks. `untilClear` compares round by round and
// goes on until luck no longer decides.
import { pairedRatio } from '../dist/measure/paired-ratio.js';

export const quartile = (list) => [...list].sort((a, b) => a - b)[list.length >> 2];
export const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** Runs every contender once a round and returns their times by name, one per round. */
export async function inTurns(rounds, contenders) {
  const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(contenders)) times[name].push(await run());
  }
  return times;
}

const microseconds = (ns) => (ns / 1000).toFixed(2).padStart(10);

export const heading = 'peer µs    Weft µs   ratio of quartiles (by round), of medians';
export const headingOfMedians = 'peer µs    Weft µs   ratio of medians (by round), of quartiles';

/** One line of a comparison; false when a target was missed. `judge` is what of the rounds is held against it. */
export function report(label, ours, theirs, target, judge = quartile) {
  const ratio = judge(ours) / judge(theirs);
  const beside = judge === quartile ? median : quartile;
  const byRound = ours.map((time, round) => (time / theirs[round]).toFixed(2)).sort();
  const missed = target !== undefined && ratio > target;
  const verdict = target === undefined ? '' : `   target ${target}x ${missed ? 'MISSED' : 'met'}`;
  console.log(
    `${label} ${microseconds(judge(theirs))} ${microseconds(judge(ours))}   ${ratio.toFixed(3)}x ` +
      `(${byRound[0]}…${byRound.at(-1)})   ${(beside(ours) / beside(theirs)).toFixed(3)}x${verdict}`,
  );
  return !missed;
}

/**
 * Runs rounds, each of which gives our time and theirs, until the interval of the ratio lies on one side of the target.
 * Looks after `fewest` rounds, then each time their number has doubled, and last after `most`: whoever looks after every
 * round finds a clear interval by luck in the end. All looks together are wrong with a chance of 5 %. `MISSED`: even the
 * low end of the interval is above the target. `unclear`: only the ratio is.
 */
export async function untilClear({ fewest, most, target }, round) {
  const looks = [];
  for (let rounds = fewest; rounds < most; rounds = 2 * rounds + 1) looks.push(rounds);
  looks.push(most);
  const [ours, theirs] = [[], []];
  for (const look of looks) {
    while (ours.length < look) {
      const [own, other] = await round();
      ours.push(own);
      theirs.push(other);
    }
    const { ratio, interval } = pairedRatio(ours, theirs, 0.05 / looks.length);
    const clear = interval[1] <= target || interval[0] > target;
    if (!clear && look < most) continue;
    const verdict = ratio <= target ? 'met' : clear ? 'MISSED' : 'unclear';
    return { ratio, interval, ours, theirs, target, verdict };
  }
}

/** As text: `1.012x (0.98 … 1.04, 15 rounds)   target 1.031x met`. */
export function verdictText({ ratio, interval, ours, target, verdict }) {
  const [low, high] = interval.map((end) => end.toFixed(2));
  const found = `${ratio.toFixed(3)}x (${low} … ${high}, ${ours.length} rounds)`;
  return `${found.padEnd(34)} target ${target}x ${verdict}`;
}
