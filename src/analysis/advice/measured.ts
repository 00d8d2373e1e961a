import { groupBy } from '../../measure/group.js';
import { median } from '../../measure/quantile.js';
import { plural } from '../../measure/units.js';
import { traitsOf } from '../../results/column-name.js';
import type { Run } from '../../results/schema.js';
import {
  type Change,
  type Gain,
  gainOver,
  type OpenQuestion,
  type SteadyRow,
  settingText,
  steadyRows,
  worthwhile,
} from './change.js';

const strategyWords = { single: 'Single', multi: 'Multi', 'round-robin': 'RoundRobin' } as const;
type StrategyName = keyof typeof strategyWords;
/** The simplest first. */
const strategyNames = Object.keys(strategyWords) as StrategyName[];

/** What strategies of a column have in common: `DispatchMultiPin` is one of `Dispatch*Pin`. */
export const familyOf = (column: string): string => column.replace(/RoundRobin|Single|Multi/, '*');

const columnIn = (family: string, strategy: StrategyName): string =>
  family.replace('*', strategyWords[strategy]);

export interface Family {
  /** The column in use; the others are compared with it. */
  readonly current: string;
  /** The measured columns that move as much in an iteration, the simplest strategy first. */
  readonly columns: readonly string[];
  /** Those that move more or less. */
  readonly apart: readonly string[];
}

/** The columns of a run that differ in strategy alone. In use is the one that `asked` names, else the simplest. */
export function familiesOf(run: Run, asked: string | undefined): Family[] {
  const rows = steadyRows(run);
  const columns = [...new Set(rows.map(({ column }) => column))];
  const known = columns.filter((column) => traitsOf(column).strategy !== undefined);
  const wanted = asked === undefined ? undefined : traitsOf(asked).strategy;
  return [...groupBy(known, familyOf)].map(([family]) => {
    const sorted = strategyNames
      .map((one) => columnIn(family, one))
      .filter((one) => known.includes(one));
    const inUse = wanted === undefined ? undefined : columnIn(family, wanted);
    const current = sorted.find((one) => one === inUse) ?? sorted[0]!;
    const isAlike = (column: string) =>
      rows.some(
        (row) =>
          row.column === column &&
          rows.some(
            (one) => one.column === current && one.bytes === row.bytes && movesAlike(one, row),
          ),
      );
    return {
      current,
      columns: sorted.filter(isAlike),
      apart: sorted.filter((column) => !isAlike(column)),
    };
  });
}

/** Whether two rates are of as many bytes: `write` without --buffers sends to all peers at once in RoundRobin alone. */
function movesAlike(a: SteadyRow, b: SteadyRow): boolean {
  const [one, other] = [a, b].map(({ gbps, nanoseconds }) => gbps * (nanoseconds?.mean ?? 0));
  return Math.abs(one! / other! - 1) < 0.01;
}

/** Strategies that cannot be compared, and what would compare them. */
export function incomparable(run: Run, asked: string | undefined): OpenQuestion[] {
  const apart = familiesOf(run, asked).filter((family) => family.apart.length > 0);
  const [first] = apart;
  if (first === undefined) return [];
  const reason = `An iteration of ${first.apart.join(', ')} moves more or less data than one of ${first.current}: they cannot be compared.`;
  const options = { buffers: run.world.ranks - 1 };
  return [
    {
      ...{ what: 'strategy', reason, run },
      ...(run.benchmark === 'write' && { measure: { benchmark: 'write', options } }),
    },
  ];
}

/** Strategies that the run measured side by side: where another one than that in use is faster. */
export function measuredStrategies(run: Run, asked: string | undefined): Change[] {
  return familiesOf(run, asked).flatMap((family) => changesIn(run, family));
}

function changesIn(run: Run, { current, columns }: Family): Change[] {
  const rows = steadyRows(run);
  const sizes = [
    ...new Set(rows.filter((row) => row.column === current).map(({ bytes }) => bytes)),
  ];
  const winners = sizes.flatMap((bytes) => {
    const own = rows.filter((row) => row.bytes === bytes);
    const from = typical(own, current)!;
    const others = columns.flatMap((column) => typical(own, column) ?? []);
    const best = others.reduce((a, b) => (b.gbps > a.gbps * (worthwhile - 0.02) ? b : a));
    const gain = gainOf(from, best);
    return gain.factor >= worthwhile && gain.interval[0] > 1 ? [{ bytes, from, best, gain }] : [];
  });
  return [...groupBy(winners, ({ best }) => best.column)].map(([to, won]) => ({
    run,
    what: 'strategy',
    from: current,
    to,
    bytes: won.map(({ bytes }) => bytes),
    gain: gainOver(won.map(({ gain }) => gain)),
    known: 'measured',
    reason: reasonFor(run, won.at(-1)!),
    options: { from: { columns: [current] }, to: { columns: [to] } },
  }));
}

/** Of the rows of repeats, that with the median rate. */
function typical(rows: readonly SteadyRow[], column: string): SteadyRow | undefined {
  const own = rows.filter((row) => row.column === column).sort((a, b) => a.gbps - b.gbps);
  return own[Math.floor((own.length - 1) / 2)];
}

/** How many times as fast. */
export function gainOf(from: SteadyRow, to: SteadyRow): Gain {
  const factor = to.gbps / from.gbps;
  const spread = Math.hypot(relativeError(from), relativeError(to));
  return { factor, interval: [factor / (1 + spread), factor * (1 + spread)] };
}

/** Half the width of the mean's 95 % interval, as a share of it. */
function relativeError({ nanoseconds }: SteadyRow): number {
  const ci = nanoseconds?.ci95;
  return ci ? (ci[1] - ci[0]) / 2 / nanoseconds!.mean : 0;
}

interface Won {
  readonly from: SteadyRow;
  readonly best: SteadyRow;
}

function reasonFor({ fabric }: Run, { from, best }: Won): string {
  const nics = new Set(fabric.channels.map(({ nic }, channel) => nic ?? channel)).size;
  const ofBound = (row: SteadyRow) =>
    row.ofBoundPercent === null ? '' : `, ${row.ofBoundPercent.toFixed(0)} % of its bound`;
  const figures = `${best.column} reaches ${rate(best)}${ofBound(best)}; ${from.column} ${rate(from)}${ofBound(from)}`;
  const [old, now] = [from, best].map(({ column }) => traitsOf(column).strategy);
  if (now === 'single') return `${figures}. At these sizes one NIC is faster than several.`;
  if (now === 'multi') {
    const why =
      old === 'single'
        ? `Single uses one of ${plural(nics, 'NIC')}`
        : 'Round-robin loads the NICs unequally';
    return `${figures}. ${why}; Multi splits every buffer over all.`;
  }
  const why =
    old === 'single' ? `Single uses one of ${plural(nics, 'NIC')}` : 'Splitting has a cost';
  return `${figures}. ${why}; RoundRobin gives every buffer a NIC of its own.`;
}

const rate = ({ gbps }: SteadyRow): string => `${gbps.toPrecision(3)} Gbps`;

/** The settings that runs are compared by, with what a change of each is about. */
const settings = [
  { what: 'channels', key: 'channels', read: ({ fabric }: Run) => fabric.channels.length },
  { what: 'chunk', key: 'chunkBytes', read: (run: Run) => run.settings.chunkBytes },
  { what: 'window', key: 'window', read: (run: Run) => run.settings.window },
  { what: 'placement', key: 'pin', read: (run: Run) => run.settings.pin },
] as const;

/** Later runs of the same benchmark in the same world that differ from an earlier one in one setting and are faster. */
export function measuredSettings(runs: readonly Run[]): Change[] {
  const worlds = groupBy(runs, worldKey);
  return [...worlds.values()].flatMap(([first, ...others]) =>
    others.flatMap((other) => settingChange(first!, other)),
  );
}

const worldKey = ({ benchmark, world, fabric, settings: { buffers, own } }: Run): string =>
  JSON.stringify([benchmark, world.hosts, world.ranks, fabric.provider, buffers, own]);

function settingChange(a: Run, b: Run): Change[] {
  const different = settings.filter(({ read }) => read(a) !== read(b));
  if (different.length !== 1) return [];
  const [{ what, key, read }] = different as [(typeof settings)[number]];
  const pairs = steadyRows(a).flatMap((row) => {
    const same = typical(
      steadyRows(b).filter(({ bytes }) => bytes === row.bytes),
      row.column,
    );
    return same ? [{ bytes: row.bytes, gain: gainOf(row, same) }] : [];
  });
  if (pairs.length === 0) return [];
  const all = gainOver(pairs.map(({ gain }) => gain));
  const isFaster = median(pairs.map(({ gain }) => gain.factor)) > 1;
  const gain: Gain = isFaster
    ? all
    : { factor: 1 / all.factor, interval: [1 / all.interval[1], 1 / all.interval[0]] };
  if (gain.factor < worthwhile) return [];
  const [from, to] = isFaster ? [a, b] : [b, a];
  return [
    {
      run: from,
      what,
      from: settingText(what, read(from)),
      to: settingText(what, read(to)),
      bytes: [...new Set(pairs.map(({ bytes }) => bytes))],
      gain,
      known: 'measured',
      reason: `Run ${to.id} differs from ${from.id} in this alone. The runs did not take turns: --try does.`,
      options: { from: { [key]: read(from) }, to: { [key]: read(to) } },
    },
  ];
}
