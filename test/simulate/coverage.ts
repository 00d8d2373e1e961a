import { intervalOf } from '../../src/runner/predict/predict-run.js';
import type { Fitted } from '../../src/simulate/fit.js';

/** The rows of a fit whose measured times lie outside the interval of their prediction. */
export const outside = ({ model, residuals }: Fitted): string[] =>
  residuals.flatMap(({ row, predictedNanoseconds }) => {
    const [low, high] = intervalOf(row.benchmark, model, predictedNanoseconds, row.predict);
    return low <= row.nanoseconds && row.nanoseconds <= high ? [] : [row.name];
  });
