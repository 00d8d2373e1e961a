import type { IndexedRun } from '../../results/run-index.js';
import type { EarlierRun } from './earlier-runs.js';

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
          const time = values.p50Nanoseconds[shape.keys.indexOf(key)];
          return time === undefined || Number.isNaN(time) ? undefined : time;
        },
      },
    }));
