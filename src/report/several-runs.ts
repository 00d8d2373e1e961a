import type { Change } from '../analysis/compare/compare.js';
import { mean } from '../measure/summary.js';
import { plural, sizeText } from '../measure/units.js';
import type { Row, Run } from '../results/schema.js';
import { bestOf, type Rate, ratedRows, rateOf } from './best-row.js';
import type { Against } from './comparison.js';
import { runNames } from './run-names.js';

export function severalFinding(runs: readonly Run[], against: readonly Against[]): string {
  const { benchmark } = runs[0]!;
  const [only, ...more] = against;
  if (only === undefined || more.length > 0) return `${benchmark}: ${fastestOf(runs)}.`;
  return `${benchmark}: ${againstText(only) ?? 'the two runs have no row in common'}.`;
}

/** Rates of different worlds or sizes do not rank: only what all runs measured does. */
function fastestOf(runs: readonly Run[]): string {
  const rate = rateOf(runs);
  const names = runNames(runs);
  const rated = runs.map((run) => ratedRows(run, rate));
  if (rated.every((rows) => rows.length === 0))
    return `none of the ${runs.length} runs measured a rate`;
  const worlds = new Set(runs.map(({ world }) => `${world.ranks} on ${world.hosts.length}`));
  if (worlds.size > 1) {
    const bests = rated.map((rows, i) => `${names[i]} ${bestText(rows, rate)}`);
    return `the runs differ in ranks or hosts; best of each: ${bests.join('; ')}`;
  }
  const sizes = rated.map((rows) => new Set(rows.map((row) => row.bytes)));
  const shared = rated.map((rows) =>
    rows.filter(({ bytes }) => sizes.every((own) => own.has(bytes))),
  );
  const bests = shared.flatMap((rows, i) => {
    const best = bestOf(rows, rate);
    return best === undefined ? [] : [{ rows, name: names[i]!, value: rate.of(best)! }];
  });
  if (bests.length === 0) return `the ${runs.length} runs have no size in common`;
  const { name, rows } = bests.reduce((a, b) => (b.value > a.value ? b : a));
  return `of ${runs.length} runs, ${name} is the fastest with ${bestText(rows, rate)}`;
}

function bestText(rows: readonly Row[], rate: Rate): string {
  const best = bestOf(rows, rate);
  if (best === undefined) return 'none';
  return `${rate.text(best)} (${best.column}, ${sizeText(best.bytes!)})`;
}

/** A run against the first; what counts as a difference, `weft compare` has said. Undefined where no row is in both. */
export function againstText({ names: [a, b], comparison: { rows } }: Against): string | undefined {
  const both = rows.filter((row) => row.effect !== null);
  const count = (change: Change) => rows.filter((row) => row.change === change).length;
  const broken = count('broken in A') + count('broken in B');
  if (both.length === 0) {
    return broken === 0 ? undefined : `${plural(broken, 'row')} of ${a} or ${b} failed`;
  }
  const speed = Math.exp(mean(both.map((row) => -Math.log1p(row.effect!))));
  const parts = [
    `faster in ${count('faster')} of ${plural(both.length, 'row')}`,
    `slower in ${count('slower')}`,
    ...(count('same') === 0 ? [] : [`no clear difference in ${count('same')}`]),
    ...(broken === 0 ? [] : [`broken in ${broken} more`]),
  ];
  return `${b} ${speedText(speed)} ${a} (${parts.join(', ')})`;
}

function speedText(ratio: number): string {
  if (ratio > 0.995 && ratio < 1.005) return 'is as fast as';
  return `runs at ${ratio.toFixed(2)} times the speed of`;
}
