import type { RowShape } from '../../results/index-entry.js';
import type { IndexedRun } from '../../results/run-index.js';
import type { EarlierRun } from './earlier-runs.js';

const placesOfShape = new WeakMap<RowShape, ReadonlyMap<string, number>>();

/** Where each row is among those of a run. Many runs share a shape. */
function placesOf(shape: RowShape): ReadonlyMap<string, number> {
  const made = placesOfShape.get(shape) ?? new Map(shape.keys.map((key, i) => [key, i]));
  placesOfShape.set(shape, made);
  return made;
}

/** The finished runs of one benchmark in an index. */
export const earlierRunsOf = (runs: readonly IndexedRun[], benchmark: string): EarlierRun[] =>
  runs
    .filter(({ setup, outcome }) => setup.header.benchmark === benchmark && outcome !== 'aborted')
    .map(({ id, startedAt, setup, shape, values }) => ({
      ...{ id, startedAt, benchmark },
      world: setup.header.world,
      fabric: setup.header.fabric,
      settings: setup.header.settings,
      times: {
        get: (key) => {
          const time = values.p50Nanoseconds[placesOf(shape).get(key) ?? -1];
          return time === undefined || Number.isNaN(time) ? undefined : time;
        },
      },
    }));
