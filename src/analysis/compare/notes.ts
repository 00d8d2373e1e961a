import { plural, rangeText } from '../../measure/units.js';
import type { Comparison } from './compare.js';
import { percentText, runsText } from './summary.js';

/** The command that would settle what is unclear, if anything is. */
export function settleNotes({ settle }: Comparison): string[] {
  if (settle === undefined) return [];
  const fill = settle.includes('…') ? ' (replace … with what differs between A and B)' : '';
  return [`to settle it, run this${fill}: ${settle}`];
}

/** Where the noise figure comes from, and what else differs. */
export const notesOf = (comparison: Comparison): string[] => [
  noiseText(comparison),
  ...comparison.warnings.map((warning) => `different set-up: ${warning}`),
];

function noiseText(comparison: Comparison): string {
  const { blocks, noise, errorRate, rows } = comparison;
  const surely = `intervals hold for all rows at once with ${percentText(1 - errorRate)} confidence`;
  const counts = `${plural(blocks[0], 'run')} of A and ${blocks[1]} of B`;
  if (noise.drift !== undefined) return `noise: ${percentText(noise.drift)}, as given with --drift`;
  if (noise.from === 'blocks') {
    const spreads = rows.flatMap((row) => row.noise?.spread ?? []);
    return `noise: runs of one side differ by ${rangeOf(spreads)} (standard deviation), from ${counts}, measured in turns; ${surely}`;
  }
  const unread = noise.unread === undefined ? '' : `; cannot read earlier runs in ${noise.unread}`;
  if (noise.from === 'history') {
    const learned = rows.filter((row) => row.noise?.from === 'history');
    const runs = rangeText(
      learned.map((row) => row.noise!.earlierRuns!),
      0,
    );
    const left = rows.filter((row) => row.noise?.from === 'unknown').length;
    const rest =
      left === 0
        ? ''
        : `; ${plural(left, 'row')} ${left === 1 ? 'has' : 'have'} too few earlier runs`;
    return `noise: ${rangeOf(learned.map((row) => row.noise!.spread!))}, from ${runs} ${runsText(comparison)} and the samples of A and B; ${surely}${rest}${unread}`;
  }
  const found = noise.earlierRuns
    ? `only ${plural(noise.earlierRuns, 'earlier run')} of the same set-up found`
    : 'no earlier runs of the same set-up found';
  const why = unread || `; ${found}`;
  const spreads = rows.flatMap((row) => row.sampleSpread ?? []);
  return `noise: unknown${why}; the middle half of each run's samples spans ${rangeOf(spreads)}`;
}

/** `0.5 %`, or `0.5 to 3 %`. */
function rangeOf(shares: readonly number[]): string {
  if (shares.length === 0) return 'an unknown amount';
  return `${rangeText(
    shares.map((share) => share * 100),
    1,
  )} %`;
}
