import { fabricName } from '../../results/fabric-name.js';
import type { IndexedRun, RunSetup } from '../../results/index-entry.js';
import type { RowSubject } from '../../results/row-key.js';
import type { RunHeader } from '../../results/schema.js';

/** Runs whose rows can be compared over time. Which hosts they ran on may change; how many may not. */
export interface Place {
  readonly benchmark: string;
  readonly ranks: number;
  readonly hosts: number;
  readonly provider: string | null;
}

/** One row of a benchmark in every run of its place that measured it, oldest first. */
export interface Series {
  readonly place: Place;
  /** All runs of the place, also those without this row; the same array for all its series. */
  readonly runsOfPlace: readonly IndexedRun[];
  readonly row: RowSubject;
  readonly runs: readonly IndexedRun[];
  /** Median time of an iteration in each run. */
  readonly nanoseconds: readonly number[];
  readonly gbps: readonly (number | null)[];
  /** The newest run that has this row, where the row failed there. */
  readonly failed: IndexedRun | undefined;
}

interface GrowingSeries extends Series {
  readonly runs: IndexedRun[];
  readonly nanoseconds: number[];
  readonly gbps: (number | null)[];
  failed: IndexedRun | undefined;
}

/** Which rows are wanted. */
export interface SeriesFilter {
  readonly benchmark?: string | undefined;
  readonly column?: string | undefined;
  /** Runs that started before are left out. */
  readonly since?: string | undefined;
}

/** `runs` from the oldest to the newest. Series come in the order in which they first appear. */
export function seriesOf(runs: readonly IndexedRun[], filter: SeriesFilter = {}): Series[] {
  const places = new Map<string, PlaceSeries>();
  const placeOfSetup = new Map<RunSetup, PlaceSeries>();
  for (const run of runs) {
    if (filter.since !== undefined && run.startedAt < filter.since) continue;
    if (filter.benchmark !== undefined && run.setup.header.benchmark !== filter.benchmark) continue;
    let place = placeOfSetup.get(run.setup);
    if (place === undefined) {
      const own = placeOf(run.setup.header);
      const key = JSON.stringify(own);
      place = places.get(key) ?? new PlaceSeries(own, filter.column);
      places.set(key, place);
      placeOfSetup.set(run.setup, place);
    }
    place.add(run);
  }
  return [...places.values()].flatMap((place) => place.series());
}

export function placeOf({ benchmark, world, fabric }: RunSetup['header'] | RunHeader): Place {
  const provider = fabricName(fabric);
  return { benchmark, ranks: world.ranks, hosts: world.hosts.length, provider };
}

class PlaceSeries {
  readonly #place: Place;
  readonly #column: string | undefined;
  readonly #runs: IndexedRun[] = [];
  readonly #byKey = new Map<string, GrowingSeries>();
  /** Most runs have the same rows: their series are looked up once. */
  readonly #byShape = new Map<string, (GrowingSeries | undefined)[]>();

  constructor(place: Place, column: string | undefined) {
    this.#place = place;
    this.#column = column;
  }

  add(run: IndexedRun): void {
    const { outcomes, p50Nanoseconds, gbps } = run.values;
    this.#runs.push(run);
    this.#seriesOf(run).forEach((series, i) => {
      if (series === undefined) return;
      const time = p50Nanoseconds[i]!;
      if (outcomes[i] !== 'passed' || !(time > 0)) {
        if (outcomes[i] === 'failed' || outcomes[i] === 'aborted') series.failed = run;
        return;
      }
      series.failed = undefined;
      series.runs.push(run);
      series.nanoseconds.push(time);
      series.gbps.push(Number.isNaN(gbps[i]!) ? null : gbps[i]!);
    });
  }

  series(): Series[] {
    return [...this.#byKey.values()].filter(({ runs, failed }) => runs.length > 0 || failed);
  }

  #seriesOf({ shape }: IndexedRun): (GrowingSeries | undefined)[] {
    const known = this.#byShape.get(shape.hash);
    if (known !== undefined) return known;
    const made = shape.subjects.map((row, i) => {
      if (this.#column !== undefined && row.column !== this.#column) return undefined;
      const key = shape.keys[i]!;
      const series = this.#byKey.get(key) ?? this.#begin(row);
      this.#byKey.set(key, series);
      return series;
    });
    this.#byShape.set(shape.hash, made);
    return made;
  }

  #begin(row: RowSubject): GrowingSeries {
    const ofPlace = { place: this.#place, runsOfPlace: this.#runs };
    return { ...ofPlace, row, runs: [], nanoseconds: [], gbps: [], failed: undefined };
  }
}
