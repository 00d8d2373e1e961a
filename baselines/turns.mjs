// Comparisons in turns: A, B, A, B, … in one run, so that what disturbs the machine disturbs both.

export const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** Runs every contender once a round and returns their times by name, one per round. */
export async function inTurns(rounds, contenders) {
  const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(contenders)) times[name].push(await run());
  }
  return times;
}

/** Ours over theirs: the ratio of medians, and of each round. */
export function ratioOf(ours, theirs) {
  const byRound = ours.map((time, round) => time / theirs[round]);
  return {
    ratio: median(ours) / median(theirs),
    lowest: Math.min(...byRound),
    highest: Math.max(...byRound),
  };
}

export const microseconds = (ns) => (ns / 1000).toFixed(2).padStart(10);

/** One line of a comparison; false when a target was missed. */
export function report(label, ours, theirs, target) {
  const { ratio, lowest, highest } = ratioOf(ours, theirs);
  const missed = target !== undefined && ratio > target;
  const verdict = target === undefined ? '' : `   target ${target}x ${missed ? 'MISSED' : 'met'}`;
  console.log(
    `${label} ${microseconds(median(theirs))} ${microseconds(median(ours))}   ${ratio.toFixed(3)}x ` +
      `(${lowest.toFixed(2)}…${highest.toFixed(2)})${verdict}`,
  );
  return !missed;
}
