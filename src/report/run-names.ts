import { plural } from '../measure/units.js';
import { fabricName } from '../results/fabric-name.js';
import type { Run } from '../results/schema.js';

/** What may tell two runs of a benchmark apart, in the order a reader would ask. */
const facts = {
  provider: (run) => fabricName(run.fabric) ?? 'no fabric',
  hosts: (run) => plural(run.world.hosts.length, 'host'),
  ranks: (run) => plural(run.world.ranks, 'rank'),
  channels: (run) => plural(run.fabric.channels.length, 'channel'),
  buffers: (run) =>
    typeof run.settings.buffers === 'number' ? plural(run.settings.buffers, 'buffer') : '',
  version: (run) => (run.fabric.version === null ? '' : `libfabric ${run.fabric.version}`),
  /** Only where an axis has taken hosts and ranks; names say those. */
  ranksPerHost: ({ world }) => `${Number((world.ranks / world.hosts.length).toFixed(2))} per host`,
} satisfies Record<string, (run: Run) => string>;
export type FactName = keyof typeof facts;

const begun = [
  (run: Run) => run.startedAt.slice(0, 10),
  (run: Run) => `${run.startedAt.slice(11, 19)} UTC`,
];

/**
 * A short name for each run, by what differs between them: `tcp`, `shm`; `2 hosts`, `4 hosts`. Facts that do not
 * help to tell runs apart are left out; where nothing does, their ids are used.
 */
export function runNames(runs: readonly Run[]): string[] {
  if (runs.length < 2) return runs.map(() => '');
  let names = runs.map((): string[] => []);
  const distinct = (list: readonly string[][]) => new Set(list.map((parts) => parts.join())).size;
  for (const fact of [...Object.values(facts), ...begun]) {
    const longer = runs.map((run, i) => [...names[i]!, fact(run)]);
    if (distinct(longer) > distinct(names)) names = longer;
  }
  const clear = distinct(names) === runs.length;
  return runs.map((run, i) => {
    const parts = clear ? names[i]! : [...names[i]!, run.id];
    return parts.filter((part) => part !== '').join(', ') || run.id;
  });
}

/** What each run differs in from others beside `shown`, which an axis shows already; empty where there is nothing. */
export function differencesBeside(runs: readonly Run[], shown: readonly FactName[]): string[] {
  const telling = (Object.keys(facts) as FactName[]).filter(
    (name) => !shown.includes(name) && new Set(runs.map(facts[name])).size > 1,
  );
  return runs.map((run) =>
    telling
      .map((name) => facts[name](run))
      .filter((text) => text !== '')
      .join(', '),
  );
}
