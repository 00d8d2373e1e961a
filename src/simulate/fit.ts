import { WeftError } from '../errors.js';
import { groupBy } from '../measure/group.js';
import { studentPoint } from '../measure/student.js';
import {
  type FabricFit,
  type FabricModel,
  type FabricParameters,
  type ParameterName,
  parameterNames,
} from './fabric-model.js';
import { leastSquares } from './least-squares.js';

/** A measured row, and how a model predicts it. */
export interface FitRow {
  readonly benchmark: string;
  readonly name: string;
  readonly nanoseconds: number;
  /** In which stage of the fit it is used; the others show what the fit predicts. */
  readonly used: 'first' | 'added' | undefined;
  /** The parameters that this row can tell something about. */
  readonly tells: readonly ParameterName[];
  predict(model: FabricModel): number;
}

export interface Residual {
  readonly row: FitRow;
  readonly predictedNanoseconds: number;
  /** Logarithm of predicted over measured time. */
  readonly log: number;
  /** Near enough to the model; a used row that is not has no weight in the fit. */
  readonly fits: boolean;
  /** How much of its own prediction a used row decides: at 1 it fits whatever it says. */
  readonly leverage: number;
}

export interface Fitted {
  readonly model: FabricModel;
  readonly residuals: readonly Residual[];
}

/** Where the search begins. Limits begin low: one that does not bind has no slope to follow. */
const startOf = (lineRateGbps: number): Required<FabricParameters> => ({
  nicGbps: 0.9 * lineRateGbps,
  writeMicroseconds: 20,
  sendMicroseconds: 20,
  chunkMicroseconds: 1,
  splitMicroseconds: 2,
  duplexEfficiency: 0.5,
  hostGbps: 0.5 * lineRateGbps,
  hostMicroseconds: 500,
});
/** What the rows do not tell has no effect. */
const neutral: FabricParameters = {
  nicGbps: 0,
  writeMicroseconds: 0,
  sendMicroseconds: 0,
  chunkMicroseconds: 0,
  splitMicroseconds: 0,
  duplexEfficiency: 1,
  hostMicroseconds: 0,
};

/** A parameter that may be so many times larger or smaller is not determined. */
const untoldFactor = 100;

/** Rows closer than this to the model are never called misfits. */
const leastMisfit = 0.05;

/**
 * Fits the parameters that the used rows tell, by least squares on the logarithm of the time. What rows of one channel
 * tell is fitted first, robustly, and held while the rest is fitted to the added rows.
 */
export function fitModel(
  frame: Omit<FabricModel, 'parameters' | 'fit'>,
  rows: readonly FitRow[],
): Fitted {
  const of = (used: FitRow['used']) => rows.filter((row) => row.used === used);
  const first = stage({ ...frame, parameters: neutral }, of('first'));
  const hasRate = first?.intervals.some(([name]) => name === 'nicGbps');
  if (first === undefined || !hasRate || first.degreesOfFreedom === 0) throw tooFew();
  const added = stage(first.model, of('added'), first);
  if (added === undefined) throw undetermined();
  const leverages = new Map([...first.leverages, ...added.leverages]);
  const residuals = rows.map((row) => ({
    ...residualOf(row, added.model, added.scale),
    leverage: leverages.get(row) ?? 0,
  }));
  const intervals = [...first.intervals, ...added.intervals];
  const fit: FabricFit = {
    rows: rows.filter(({ used }) => used !== undefined).length,
    intervals: Object.fromEntries(intervals) as unknown as FabricFit['intervals'],
    spread: spreadOf(residuals),
  };
  return { model: { ...added.model, fit }, residuals };
}

interface Stage {
  readonly model: FabricModel;
  /** What was to be fitted. */
  readonly names: readonly ParameterName[];
  /** Of the parameters that the rows determine. */
  readonly intervals: readonly (readonly [ParameterName, readonly [number, number]])[];
  readonly degreesOfFreedom: number;
  readonly scale: number;
  readonly leverages: readonly (readonly [FitRow, number])[];
}

/** Fits what these rows tell beside what an `earlier` stage found; undefined where they do not determine it. */
function stage(model: FabricModel, rows: readonly FitRow[], earlier?: Stage): Stage | undefined {
  const names = parameterNames.filter(
    (name) => !earlier?.names.includes(name) && rows.some(({ tells }) => tells.includes(name)),
  );
  if (names.length === 0) {
    const scale = earlier?.scale ?? 0;
    return { model, names, intervals: [], degreesOfFreedom: 0, scale, leverages: [] };
  }
  if (rows.length < names.length) return undefined;
  const start = startOf(model.lineRateGbps);
  // Unknowns are multiples of the start, so that they are of one size.
  const parametersAt = (unknowns: readonly number[]): FabricParameters => ({
    ...model.parameters,
    ...Object.fromEntries(
      names.map((name, i) => [name, bounded(name, start[name] * unknowns[i]!)]),
    ),
  });
  const solution = leastSquares(
    (unknowns) =>
      rows.map((row) => logRatio(row, { ...model, parameters: parametersAt(unknowns) })),
    names.map(() => 1),
    earlier === undefined,
  );
  if (solution === undefined) return undefined;
  // Few rows do not show how much they vary; the first ones do.
  const scale = Math.max(solution.scale, earlier?.scale ?? 0);
  const { degreesOfFreedom } = earlier ?? solution;
  const fitted = parametersAt(solution.unknowns);
  const width = degreesOfFreedom > 0 ? scale * studentPoint(0.05, degreesOfFreedom) : 0;
  const intervals = intervalsOf(fitted, names, solution.errors, width);
  const untold = names.filter((name) => intervals.every(([told]) => told !== name));
  const without = Object.fromEntries(untold.map((name) => [name, neutral[name]]));
  return {
    ...{ names, intervals, degreesOfFreedom, scale },
    leverages: rows.map((row, i) => [row, solution.leverages[i]!] as const),
    model: { ...model, parameters: { ...fitted, ...without } },
  };
}

/** `width` times the standard error either side, on a scale of factors, of the parameters that the rows determine. */
function intervalsOf(
  parameters: FabricParameters,
  names: readonly ParameterName[],
  errors: readonly number[],
  width: number,
): Stage['intervals'] {
  return names.flatMap((name, i) => {
    const factor = Math.exp(width * errors[i]!);
    if (errors[i] === 0 || factor > untoldFactor) return [];
    const value = parameters[name]!;
    return [[name, [value / factor, bounded(name, value * factor)]] as const];
  });
}

function residualOf(row: FitRow, model: FabricModel, scale: number): Omit<Residual, 'leverage'> {
  const predictedNanoseconds = row.predict(model);
  const log = Math.log(predictedNanoseconds / row.nanoseconds);
  const limit = Math.max(leastMisfit, 4.685 * scale);
  return { row, predictedNanoseconds, log, fits: Math.abs(log) <= limit };
}

const bounded = (name: ParameterName, value: number): number =>
  name === 'duplexEfficiency' ? Math.min(1, value) : value;

const logRatio = (row: FitRow, model: FabricModel): number =>
  Math.log(row.predict(model) / row.nanoseconds);

/** A row that decides this much of its own prediction shows nothing about the others. */
const decides = 0.99;

/**
 * By benchmark: the root mean square of the residuals, each corrected for what its row decides itself.
 * Without rows that decide their own prediction, and without those that the fit left out.
 */
function spreadOf(residuals: readonly Residual[]): Record<string, number> {
  const shown = residuals.filter(
    ({ row, fits, leverage }) => (fits || row.used !== 'first') && leverage < decides,
  );
  return Object.fromEntries(
    [...groupBy(shown, ({ row }) => row.benchmark)].map(([benchmark, own]) => {
      const squares = own.reduce((sum, { log, leverage }) => sum + log ** 2 / (1 - leverage), 0);
      return [benchmark, Math.sqrt(squares / own.length)];
    }),
  );
}

const tooFew = (): WeftError =>
  new WeftError('BAD_USAGE', 'too few rows to fit a model', {
    hint: 'Give single-channel write rows of several sizes, and sendrecv rows for the cost of a message.',
  });

const undetermined = (): WeftError =>
  new WeftError('BAD_USAGE', 'the rows of --also do not determine their parameters', {
    hint: 'Add rows of other sizes: exchanges from pinned memory over several NICs need two.',
  });
