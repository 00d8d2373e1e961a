import { addPlanned, type Planned } from '../../analysis/path/observation.js';
import { groupBy } from '../../measure/group.js';
import { loopback, type PlannedOn, type Routes } from './routes.js';

/** The same payload on many NICs. Plans are regular: what hundreds of ranks tell rank 0 stays small. */
export interface PackedPlan extends Planned {
  /** Numbers of NICs, as `placesOf` has them. */
  readonly places: Uint32Array;
}

/** A NIC of a host. */
export interface Place {
  readonly host: number;
  readonly nic: string;
}

const keyOf = ({ host, nic }: Place): string => `${host} ${nic}`;

/** Every NIC that a plan may use, in the same order on every rank. */
export function placesOf({ hostOf, nics }: Pick<Routes, 'hostOf' | 'nics'>): Place[] {
  const found = new Map<string, Place>();
  for (const [rank, own] of nics.entries()) {
    for (const nic of [...own, loopback]) {
      const place = { host: hostOf[rank]!, nic };
      found.set(keyOf(place), place);
    }
  }
  return [...found.values()];
}

export function packPlanned(planned: readonly PlannedOn[], places: readonly Place[]): PackedPlan[] {
  const numbers = new Map(places.map((place, number) => [keyOf(place), number]));
  const alike = groupBy(planned, ({ host: _, nic: __, ...payload }) => JSON.stringify(payload));
  return [...alike.values()].map((group) => {
    const { host: _, nic: __, ...payload } = group[0]!;
    return { ...payload, places: Uint32Array.from(group, (one) => numbers.get(keyOf(one))!) };
  });
}

/** What all ranks together put on each place; undefined where nothing. */
export function sumPlanned(
  reports: readonly (readonly PackedPlan[])[],
  places: readonly Place[],
): (Planned | undefined)[] {
  const sums: (Planned | undefined)[] = places.map(() => undefined);
  for (const { places: numbers, ...payload } of reports.flat()) {
    for (const number of numbers) sums[number] = addPlanned(sums[number], payload);
  }
  return sums;
}
