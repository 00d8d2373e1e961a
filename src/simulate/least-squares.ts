/** What least squares found. */
export interface Solution {
  readonly unknowns: number[];
  /** Standard errors of the logarithms of the unknowns where residuals have size 1; 0 for one without effect. */
  readonly errors: number[];
  readonly degreesOfFreedom: number;
  /** Typical size of a residual of a row that fits. */
  readonly scale: number;
  /** Of each row: how much of its own prediction it decides, from 0 to 1. At 1 its residual is 0 whatever it says. */
  readonly leverages: number[];
}

/** Of an unknown: its part by which it is moved to find slopes, the least part it keeps in a step, and the end. */
const difference = 1e-5;
const leastKept = 0.1;
const settled = 1e-7;
/** Tukey's biweight: rows this many scales away have no weight. */
const cutoff = 4.685;
/** Residuals are not judged more finely than this. */
const leastScale = 1e-4;

interface Phase {
  readonly rounds: number;
  weightsOf(residuals: readonly number[]): number[];
}

/** First the least sum of sizes, at which far rows do not pull; then far rows can be told and are left out. */
const robust: readonly Phase[] = [
  { rounds: 30, weightsOf: laplaceWeights },
  { rounds: 40, weightsOf: biweights },
];
const plain: readonly Phase[] = [{ rounds: 60, weightsOf: (residuals) => residuals.map(() => 1) }];

/**
 * `residualsAt` must be smooth; unknowns stay above 0. Many rows can be fitted robustly; of a few, none can be left out.
 * `undefined` where the rows do not determine the unknowns.
 */
export function leastSquares(
  residualsAt: (unknowns: readonly number[]) => number[],
  start: readonly number[],
  isRobust: boolean,
): Solution | undefined {
  let unknowns = [...start];
  let weights: number[] = [];
  for (const { rounds, weightsOf } of isRobust ? robust : plain) {
    for (let round = 0; round < rounds; round++) {
      const residuals = residualsAt(unknowns);
      weights = weightsOf(residuals);
      const moved = step(residualsAt, unknowns, residuals, weights);
      if (moved === undefined) return undefined;
      const change = Math.max(...moved.map((value, i) => Math.abs(value / unknowns[i]! - 1)));
      unknowns = moved;
      if (change < settled) break;
    }
  }
  return described(residualsAt, unknowns, weights);
}

/** A step of Gauss and Newton, damped until it does not make things worse. */
function step(
  residualsAt: (unknowns: readonly number[]) => number[],
  unknowns: readonly number[],
  residuals: readonly number[],
  weights: readonly number[],
): number[] | undefined {
  const slopes = slopesOf(residualsAt, unknowns, residuals);
  const normal = normalMatrix(slopes, weights);
  const right = slopes.map((slope) => -weightedDot(slope, residuals, weights));
  const cost = weightedDot(residuals, residuals, weights);
  for (let damping = 1e-9; damping < 1e6; damping *= 10) {
    const damped = normal.map((row, i) =>
      row.map((value, j) => (i === j ? value * (1 + damping) : value)),
    );
    const delta = solved(damped, right);
    if (delta === undefined) return undefined;
    const next = unknowns.map((value, i) => Math.max(leastKept * value, value + delta[i]!));
    const found = residualsAt(next);
    if (weightedDot(found, found, weights) <= cost * (1 + 1e-9)) return next;
  }
  return [...unknowns];
}

function described(
  residualsAt: (unknowns: readonly number[]) => number[],
  unknowns: number[],
  weights: number[],
): Solution | undefined {
  const residuals = residualsAt(unknowns);
  const slopes = slopesOf(residualsAt, unknowns, residuals);
  const normal = normalMatrix(slopes, weights);
  const units = unknowns.map((_, i) => unknowns.map((_, j) => (i === j ? 1 : 0)));
  const inverse = units.map((unit) => solved(normal, unit));
  if (inverse.some((column) => column === undefined)) return undefined;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const degreesOfFreedom = Math.max(0, total - unknowns.length);
  const variance = weightedDot(residuals, residuals, weights) / Math.max(1, degreesOfFreedom);
  const errors = inverse.map((column, i) =>
    hasEffect(slopes[i]!) ? Math.sqrt(column![i]!) / unknowns[i]! : 0,
  );
  const leverages = weights.map((weight, row) => {
    const own = slopes.map((slope) => slope[row]!);
    const pulls = inverse.map((column) => own.reduce((sum, one, j) => sum + one * column![j]!, 0));
    return weight * own.reduce((sum, one, j) => sum + one * pulls[j]!, 0);
  });
  return { unknowns, errors, degreesOfFreedom, scale: Math.sqrt(variance), leverages };
}

function laplaceWeights(residuals: readonly number[]): number[] {
  return residuals.map((residual) => 0.01 / Math.max(0.01, Math.abs(residual)));
}

function biweights(residuals: readonly number[]): number[] {
  const sizes = residuals.map(Math.abs).sort((a, b) => a - b);
  const scale = Math.max(leastScale, 1.4826 * sizes[Math.floor(sizes.length / 2)]!);
  return residuals.map((residual) => {
    const away = residual / (cutoff * scale);
    return Math.abs(away) >= 1 ? 0 : (1 - away ** 2) ** 2;
  });
}

/** By unknown, then by row. */
const slopesOf = (
  residualsAt: (unknowns: readonly number[]) => number[],
  unknowns: readonly number[],
  residuals: readonly number[],
): number[][] =>
  unknowns.map((_, i) => {
    const by = difference * unknowns[i]!;
    const moved = unknowns.map((value, j) => (i === j ? value + by : value));
    return residualsAt(moved).map((residual, row) => (residual - residuals[row]!) / by);
  });

const weightedDot = (
  a: readonly number[],
  b: readonly number[],
  weights: readonly number[],
): number => a.reduce((sum, value, i) => sum + value * b[i]! * weights[i]!, 0);

/** An unknown without effect has 1 on the diagonal, so that it stays where it is. */
const normalMatrix = (
  slopes: readonly (readonly number[])[],
  weights: readonly number[],
): number[][] =>
  slopes.map((a, i) =>
    slopes.map((b, j) => (i === j && !hasEffect(a) ? 1 : weightedDot(a, b, weights))),
  );

const hasEffect = (slope: readonly number[]): boolean => slope.some((value) => value !== 0);

/** Gauss with pivots; undefined where the matrix is singular. */
function solved(
  matrix: readonly (readonly number[])[],
  right: readonly number[],
): number[] | undefined {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  const size = rows.length;
  const largest = Math.max(...matrix.map((row, i) => Math.abs(row[i]!)));
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(rows[row]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = row;
    }
    if (!(Math.abs(rows[pivot]![column]!) > 1e-13 * largest)) return undefined;
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const factor = rows[row]![column]! / rows[column]![column]!;
      for (let k = column; k <= size; k++) rows[row]![k]! -= factor * rows[column]![k]!;
    }
  }
  return rows.map((row, i) => row[size]! / row[i]!);
}
