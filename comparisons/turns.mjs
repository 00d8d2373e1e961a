// Comparisons in turns: A, B, A, B, … in one run, so that what disturbs the machine disturbs both. Each turn gives a
// median; the lower quartiles of those are compared. Over TCP a run is fast or three times slower by the luck of its
// connection, whoever runs it, and the median of a few runs would compare lucks.

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
