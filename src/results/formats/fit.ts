import { formatNanoseconds, plural, significant } from '../../measure/units.js';
import { type FabricModel, parameterNames } from '../../simulate/fabric-model.js';
import type { Fitted, Residual } from '../../simulate/fit.js';
import { alignedTable } from './plain-table.js';

/** The parameters with their confidence, the residual of every row, and the rows that do not fit. */
export function formatFit(fitted: Fitted, format: 'table' | 'json'): string {
  if (format === 'json') {
    const { model, residuals } = fitted;
    return `${JSON.stringify({ ...model, residuals: residuals.map(residualRecord) }, null, 2)}\n`;
  }
  const { model, residuals } = fitted;
  const misfits = residuals.filter(({ fits, row }) => !fits && row.used !== undefined);
  const names = misfits.map(({ row, log }) => `${row.name} (${percentText(log)})`);
  const left =
    misfits.length === 0
      ? 'Every row that was used fits.'
      : `The model does not fit ${plural(misfits.length, 'row')}: ${names.join(', ')}.`;
  const sections = [parameterLines(model), residualLines(residuals), [left]];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function parameterLines({ name, parameters, fit }: FabricModel): string[] {
  const lines = parameterNames.flatMap((parameter) => {
    const value = parameters[parameter];
    const interval = fit?.intervals[parameter];
    if (value === undefined) return [];
    const range = interval
      ? interval.map(significant).join(' to ')
      : 'not determined by these rows';
    return [[parameter, significant(value), range]];
  });
  const table = alignedTable({ heads: ['parameter', 'value', '95 % interval'], lines, left: [0] });
  return [`model ${name}, fitted to ${plural(fit?.rows ?? 0, 'row')}`, '', ...table];
}

function residualLines(residuals: readonly Residual[]): string[] {
  const lines = residuals.map(({ row, predictedNanoseconds, log, fits }) => [
    row.name,
    formatNanoseconds(row.nanoseconds),
    formatNanoseconds(predictedNanoseconds),
    percentText(log),
    row.used === undefined ? 'predicted' : fits ? 'used' : 'does not fit',
  ]);
  const heads = ['row', 'measured', 'model', 'error', ''];
  return alignedTable({ heads, lines, left: [0, 4] });
}

const percentText = (log: number): string => {
  const percent = Math.expm1(log) * 100;
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;
};

const residualRecord = ({ row, predictedNanoseconds, log, fits }: Residual) => ({
  row: row.name,
  nanoseconds: row.nanoseconds,
  predictedNanoseconds,
  errorPercent: Math.expm1(log) * 100,
  used: row.used !== undefined,
  fits,
});
