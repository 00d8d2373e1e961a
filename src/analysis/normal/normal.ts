import { plural } from '../../measure/units.js';
import { isInMatrix } from '../../results/row-kinds.js';
import { nameOfRow } from '../../results/row-name.js';
import type { Row, Run } from '../../results/schema.js';
import { type Place, placeOf } from './machine.js';
import { figuresBeside, type PlacedFigure } from './published.js';

/** What a model expects of the rows of a run: a run that nobody measured, or why there is none. */
export type Expected = { readonly run: Run } | { readonly model: string; readonly because: string };

/** A row beside what is known of it. */
export interface PlacedRow {
  readonly run: string;
  readonly benchmark: string;
  readonly column: string;
  readonly bytes: number;
  /** `MultiDMA 16M` */
  readonly name: string;
  readonly gbps: number | null;
  readonly nanoseconds: number;
  readonly published: readonly PlacedFigure[];
  readonly model?: PlacedModel;
}

export interface PlacedModel {
  readonly name: string;
  readonly gbps: number | null;
  readonly nanoseconds: number;
  /** 95 % of the time, in nanoseconds. */
  readonly interval: readonly [number, number];
  /** How fast the row is in units of the prediction. */
  readonly speed: number;
}

/** What is normal for some runs, as far as anybody knows. */
export interface Normal {
  /** Where they were measured; null where it is not known, in a lab, and with emulated devices. */
  readonly machine: string | null;
  readonly rows: readonly PlacedRow[];
  /** What could not be compared, a sentence each. */
  readonly notes: readonly string[];
}

/** Places runs beside published figures of the same machine and operation, and beside what a model expects. */
export function normalOf(
  runs: readonly Run[],
  expectedOf: (run: Run) => Expected | undefined,
): Normal {
  const places = runs.map(placeOf);
  const parts = runs.map((run, i) => normalOfRun(run, places[i]!, expectedOf(run)));
  const machines = new Set(places.map((place) => (place.kind === 'machine' ? place.name : null)));
  return {
    machine: machines.size === 1 ? [...machines][0]! : null,
    rows: parts.flatMap(({ rows }) => rows),
    notes: [...new Set(parts.flatMap(({ notes }) => notes))],
  };
}

function normalOfRun(run: Run, place: Place, expected: Expected | undefined) {
  const measured = run.rows.filter(
    ({ outcome, nanoseconds, labels, ...row }) =>
      outcome === 'passed' && nanoseconds !== null && !labels.burst && !isInMatrix(row),
  );
  const predicted = expected && 'run' in expected ? expected.run : undefined;
  const rows = measured.flatMap((row): PlacedRow[] => {
    const published = place.kind === 'machine' ? figuresBeside(place.name, run, row) : [];
    const model = predicted && modelBeside(predicted, row);
    if (row.bytes === null || (published.length === 0 && model === undefined)) return [];
    return [
      {
        run: run.id,
        benchmark: run.benchmark,
        column: row.column,
        bytes: row.bytes,
        name: nameOfRow(row),
        gbps: row.gbps,
        nanoseconds: row.nanoseconds!.mean,
        published,
        ...(model && { model }),
      },
    ];
  });
  const [none, noModel] = [
    rows.every(({ published }) => published.length === 0),
    rows.every(({ model }) => model === undefined),
  ];
  return { rows, notes: notesOf(run, place, expected, { none, noModel }) };
}

function modelBeside({ model, rows }: Run, row: Row): PlacedModel | undefined {
  const found = rows.find(({ column, bytes }) => column === row.column && bytes === row.bytes);
  if (model === undefined || !found?.nanoseconds || !found.interval) return undefined;
  const { mean } = found.nanoseconds;
  return {
    name: model.name,
    gbps: found.gbps,
    nanoseconds: mean,
    interval: found.interval,
    speed: mean / row.nanoseconds!.mean,
  };
}

function notesOf(
  { benchmark, fabric }: Run,
  place: Place,
  expected: Expected | undefined,
  missing: { readonly none: boolean; readonly noModel: boolean },
): string[] {
  const failed =
    expected && 'because' in expected
      ? [`Not compared with the model ${expected.model}: ${expected.because}.`]
      : [];
  const alone = missing.none && missing.noModel && failed.length === 0;
  switch (place.kind) {
    case 'emulated':
      return [
        'These devices are emulated: the results are not compared with figures or models of real machines.',
      ];
    case 'lab': {
      const rates = [...new Set(fabric.channels.map(({ lineRateGbps }) => lineRateGbps))];
      const nics = `${plural(fabric.channels.length, 'NIC')} of ${rates.join(' and ')} Gbps`;
      const without = `Weft has no model of a lab with ${nics}`;
      return alone ? [`A lab is not compared with real machines, and ${without}.`] : failed;
    }
    case 'machine': {
      if (alone) {
        return [
          `Nothing is known to compare ${benchmark} on ${place.name} with: no published figures of these sizes, and no model.`,
        ];
      }
      return [
        ...(missing.none
          ? [`No figures of ${benchmark} at these sizes are published for ${place.name}.`]
          : []),
        ...failed,
      ];
    }
    case 'unknown': {
      const product = place.product === undefined ? '' : ` (${place.product})`;
      return alone
        ? [
            `Nothing is known to compare with: Weft has no published figures and no model for this machine${product}.`,
          ]
        : failed;
    }
  }
}

/** The largest size of each column of each run: what a summary shows. */
export function largestOf(rows: readonly PlacedRow[]): PlacedRow[] {
  const largest = new Map<string, PlacedRow>();
  for (const row of rows) {
    const key = `${row.run} ${row.column}`;
    const other = largest.get(key);
    if (other === undefined || row.bytes > other.bytes) largest.set(key, row);
  }
  return [...largest.values()];
}

export const valueText = (value: number): string => String(Number(value.toPrecision(3)));

/** `96.6 Gbps` */
export const figureText = ({ value, unit }: PlacedFigure): string => `${valueText(value)} ${unit}`;
