import { WeftError } from '../../errors.js';
import { type Benchmark, isPlanned } from '../benchmark.js';
import { type Given, type Job, jobOf } from '../job.js';

/** Large enough to fill a link, small enough to show a pause of a second. */
const usualBytes = 16 * 2 ** 20;

/**
 * A benchmark as a soak runs it. Of one made of plans, what nobody asks for is one size and one column: the one that
 * spreads over all NICs, so that trouble on any of them shows. Others run as they are.
 */
export function soakJobOf(benchmark: Benchmark, given: Given): Job {
  if (given.repeats !== undefined) {
    throw new WeftError('BAD_USAGE', '`repeats` has no effect on soak', {
      hint: 'Use --reopen to open new connections for every interval.',
    });
  }
  if (given.against !== undefined) {
    throw new WeftError('BAD_USAGE', '`against` has no effect on soak', {
      hint: `Compare with other libraries in a run of ${benchmark.id} by itself.`,
    });
  }
  if (!isPlanned(benchmark)) return jobOf(benchmark, given);
  const { columns, sizes } = benchmark;
  const clamped = Math.min(sizes.maxBytes, Math.max(sizes.minBytes, usualBytes));
  const minBytes = given.minBytes ?? given.maxBytes ?? clamped;
  const pinned = columns.filter(({ memory }) => memory.id === 'pinned');
  const spread = pinned.find(({ strategy }) => strategy.id === 'multi') ?? pinned[0] ?? columns[0]!;
  return jobOf(benchmark, {
    columns: [spread.name],
    ...given,
    minBytes,
    maxBytes: given.maxBytes ?? minBytes,
  });
}
