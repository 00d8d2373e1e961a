import type { Run } from '../../results/schema.js';
import type { NicTotals } from '../../results/soak.js';

/** What the counters of a NIC gained from the start of the first timed loop to the end of the last. */
export interface NicCount {
  readonly host: string;
  readonly nic: string;
  readonly txBytes: number;
  readonly rxBytes: number;
  readonly retransmits: number;
  readonly drops: number;
}

interface Gained {
  readonly txBytes: number;
  readonly rxBytes: number;
  readonly retransmits?: number | undefined;
  readonly drops?: number | undefined;
}

export function totalsOf(nics: readonly Gained[]): NicTotals {
  const sum = (key: keyof Gained) => nics.reduce((total, nic) => total + (nic[key] ?? 0), 0);
  return {
    nics: nics.length,
    ...{ txBytes: sum('txBytes'), rxBytes: sum('rxBytes') },
    ...{ retransmits: sum('retransmits'), drops: sum('drops') },
  };
}

/** Of several intervals, which count the same NICs. */
export function addTotals(all: readonly NicTotals[]): NicTotals {
  return { ...totalsOf(all), nics: all.reduce((most, { nics }) => Math.max(most, nics), 0) };
}

/** By NIC; of large worlds, those that lost or repeated something. */
export function nicCounts({ rows }: Pick<Run, 'rows'>): NicCount[] {
  const found = new Map<string, NicCount>();
  for (const { host, nic, ...gained } of rows.flatMap(({ path }) => path?.nics ?? [])) {
    const key = `${host} ${nic}`;
    const before = found.get(key);
    found.set(key, {
      host,
      nic,
      txBytes: (before?.txBytes ?? 0) + gained.txBytes,
      rxBytes: (before?.rxBytes ?? 0) + gained.rxBytes,
      retransmits: (before?.retransmits ?? 0) + (gained.retransmits ?? 0),
      drops: (before?.drops ?? 0) + (gained.drops ?? 0),
    });
  }
  return [...found.values()];
}
