import type { Run } from '../results/schema.js';

type Fact = (run: Run) => string;

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** What may tell two runs of a benchmark apart, in the order a reader would ask. */
const facts: readonly Fact[] = [
  (run) => run.fabric.provider ?? 'no fabric',
  (run) => counted(run.world.hosts.length, 'host'),
  (run) => counted(run.world.ranks, 'rank'),
  (run) => counted(run.fabric.channels.length, 'channel'),
  (run) =>
    typeof run.settings.buffers === 'number' ? counted(run.settings.buffers, 'buffer') : '',
  (run) => (run.fabric.version === null ? '' : `libfabric ${run.fabric.version}`),
  (run) => run.startedAt.slice(0, 10),
  (run) => `${run.startedAt.slice(11, 19)} UTC`,
];

/**
 * A short name for each run, by what differs between them: `tcp`, `shm`; `2 hosts`, `4 hosts`. Facts that do not
 * help to tell runs apart are left out; where nothing does, their ids are used.
 */
export function runNames(runs: readonly Run[]): string[] {
  if (runs.length < 2) return runs.map(() => '');
  let names = runs.map((): string[] => []);
  const distinct = (list: readonly string[][]) => new Set(list.map((parts) => parts.join())).size;
  for (const fact of facts) {
    const longer = runs.map((run, i) => [...names[i]!, fact(run)]);
    if (distinct(longer) > distinct(names)) names = longer;
  }
  const clear = distinct(names) === runs.length;
  return runs.map((run, i) => {
    const parts = clear ? names[i]! : [...names[i]!, run.id];
    return parts.filter((part) => part !== '').join(', ') || run.id;
  });
}
