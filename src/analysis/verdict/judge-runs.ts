import { plural } from '../../measure/units.js';
import { nameOfRow } from '../../results/row-name.js';
import type { Run } from '../../results/schema.js';
import { type ComparedRow, type Comparison, looksSlower } from '../compare/compare.js';
import type { Item } from './verdict.js';

/** What is wrong whatever was expected: wrong bytes, failed rows, runs that did not finish. */
export function judgeSoundness(runs: readonly Run[]): Item[] {
  return runs.flatMap((run) => [
    ...bytesChecked(run),
    ...pathsTaken(run),
    ...failedRows(run),
    ...unfinished(run),
  ]);
}

function bytesChecked({ benchmark, rows, outcome }: Run): Item[] {
  const sum = (key: 'bytes' | 'wrong') => rows.reduce((total, row) => total + row.checked[key], 0);
  const [bytes, wrong] = [sum('bytes'), sum('wrong')];
  const name = `${benchmark} data`;
  const figures = { metric: 'wrongBytes', value: wrong, expected: 0 };
  if (wrong > 0) {
    const reason = `${wrong} of ${bytes} bytes are wrong.`;
    const next =
      'Take the host named in the run out of service and test its memory, NICs and cables.';
    return [{ name, grade: 'fail', reason, next, ...figures }];
  }
  // What did not finish before its first row says so itself.
  if (bytes === 0 && outcome === 'aborted') return [];
  if (bytes === 0) {
    const next = 'Run it again with `check` 1.';
    return [{ name, grade: 'degraded', reason: 'No bytes were checked.', next, ...figures }];
  }
  return [{ name, grade: 'pass', reason: `All ${bytes} bytes arrived as sent.`, ...figures }];
}

/** Whether the bytes went over the planned NICs, where counters tell. */
function pathsTaken({ benchmark, rows }: Run): Item[] {
  const judged = rows.filter((row) => row.path != null && row.path.asPlanned !== null);
  const astray = judged.filter((row) => row.path!.asPlanned === false);
  if (judged.length === 0) return [];
  const figures = { metric: 'rowsOffPath', value: astray.length, expected: 0 };
  const name = `${benchmark} path`;
  const [first] = astray;
  if (first === undefined) {
    const reason = `The planned NICs carried the bytes (${plural(judged.length, 'row')} checked).`;
    return [{ name, grade: 'pass', reason, ...figures }];
  }
  const reason = `${astray.length} of ${plural(judged.length, 'row')} affected, e.g. ${nameOfRow(first)}: ${first.path!.text}.`;
  const next =
    'Check the routes, the addresses of the NICs and the provider’s settings on that host.';
  return [{ name, grade: 'fail', reason, next, ...figures }];
}

const failedRows = ({ benchmark, rows }: Run): Item[] =>
  rows
    .filter((row) => (row.outcome === 'failed' || row.outcome === 'aborted') && !row.checked.wrong)
    .map((row) => ({
      name: `${benchmark} ${nameOfRow(row)}`,
      grade: 'fail',
      reason: `The row ${row.outcome}: ${row.reason ?? 'no reason given'}.`,
      next: `Run weft ${benchmark} --columns ${row.column} alone.`,
    }));

function unfinished({ benchmark, outcome, errors }: Run): Item[] {
  if (outcome !== 'aborted') return [];
  const [error] = errors;
  return [
    {
      name: `${benchmark} run`,
      grade: 'fail',
      reason: `The run did not finish: ${error?.message ?? 'its file has no last line'}.`,
      next: error?.hint ?? 'Run it again.',
    },
  ];
}

/** So much slower than before is a failure, not a degradation. */
const failingEffect = 0.25;

/** With `strict`, a row that only looks slower is degraded. */
export const judgeComparison = (comparison: Comparison, strict: boolean): Item[] =>
  comparison.rows.map((row) =>
    judgeCompared(comparison.benchmark, row, strict && looksSlower(row, comparison)),
  );

function judgeCompared(benchmark: string, row: ComparedRow, doubtful: boolean): Item {
  const { verdict, ratio, reason: why } = row;
  const name = `${benchmark} ${nameOfRow(row)}`;
  const next = `Compare the two runs with weft compare, then find the cause with weft pairs --per-rail.`;
  if (verdict === 'slower' || doubtful) {
    const slowdown = ratio! - 1;
    const grade = slowdown > failingEffect && !doubtful ? 'fail' : 'degraded';
    const time = `${(slowdown * 100).toFixed(0)} % longer than the baseline`;
    const reason = doubtful ? `It took ${time}; this is not proven.` : `It takes ${time}.`;
    return { name, grade, reason, next, metric: 'slowdown', value: slowdown, expected: 0 };
  }
  if (verdict === 'broken in B' || verdict === 'only in A') {
    const reason = `The baseline has this row, but this run does not: ${why ?? 'it was not measured'}.`;
    return { name, grade: 'fail', reason, next };
  }
  const value = ratio === null ? {} : { metric: 'slowdown', value: ratio - 1 };
  const open = verdict === 'unclear' ? ` It took ${ratio!.toFixed(2)}× the time.` : '';
  return { name, grade: 'pass', reason: `${passing[verdict]}${open}`, ...value };
}

const passing = {
  same: 'Same as the baseline.',
  faster: 'Faster than the baseline.',
  unclear: 'Not proven to differ from the baseline.',
  'broken in A': 'It failed in the baseline.',
  'only in B': 'The baseline does not have this row.',
} as const;
