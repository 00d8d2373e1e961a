import { compareRuns } from '../../../src/analysis/compare/compare.js';
import { earlierRunOf } from '../../../src/analysis/compare/earlier-runs.js';
import { judge } from '../../../src/analysis/verdict/judge.js';
import { renderReport } from '../../../src/report/html.js';
import { formatRun, formats } from '../../../src/results/formats/format-run.js';
import { formatRunMetrics } from '../../../src/results/formats/metrics.js';
import { formatNcclJson } from '../../../src/results/formats/nccl-json.js';
import { readRun } from '../../../src/results/read-run.js';
import type { Run } from '../../../src/results/schema.js';
import { figuresOfRuns } from '../../../src/runner/predict/calibrate.js';
import { pairsRun } from '../../report/fixtures.js';
import { ipcRun, proxyRun, queueRun } from '../../report/gpu-fixtures.js';
import { allToAllRun, writeRun } from '../../results/fixtures.js';
import { flappingRun } from '../../results/soak-fixtures.js';
import type { Dice } from '../dice.js';
import { type Json, mutateJson, mutateText } from '../mutate.js';
import type { Target } from '../target.js';
import { fileInput } from './text-input.js';

/** As a run file has them: header, rows, footer. */
function linesOf({ rows, endedAt, outcome, errors, diagnosis, ...header }: Run): Json[] {
  const footer = { line: 'footer', endedAt, outcome, errors, ...(diagnosis && { diagnosis }) };
  const lines = [
    { line: 'header', ...header },
    ...rows.map((row) => ({ line: 'row', ...row })),
    footer,
  ];
  return JSON.parse(JSON.stringify(lines));
}

const goodRuns = [writeRun(), allToAllRun(), pairsRun(3), proxyRun(), ipcRun(), queueRun()]
  .concat(flappingRun())
  .map(linesOf);
const words = ['row', 'header', 'footer', 'passed', 'skipped', 'aborted', 'pair', 'transfer'];

export function brokenRun(dice: Dice): string {
  const lines = dice.pick(goodRuns);
  const changed = dice.chance(0.8) ? mutateJson(dice, lines, words) : lines;
  const list = Array.isArray(changed) ? changed : [changed];
  const text = `${list.map((line) => JSON.stringify(line)).join('\n')}\n`;
  return dice.chance(0.3) ? mutateText(dice, text, words) : text;
}

/** Whatever can be read must be fit to be shown, compared and judged. */
const uses: readonly ((run: Run) => unknown)[] = [
  ...formats.map((format) => (run: Run) => formatRun(run, format)),
  formatNcclJson,
  earlierRunOf,
  (run) => formatRunMetrics([run]),
  (run) => compareRuns([run], [run], {}),
  (run) => judge({ kind: 'none' }, [run], []),
  (run) => figuresOfRuns([run]),
];

export const runFiles: Target = {
  name: 'run-files',
  share: 60,
  make: (dice) => {
    // A page takes longer than all the others.
    const use = dice.chance(0.02) ? (run: Run) => renderReport([run]) : dice.pick(uses);
    return fileInput(brokenRun(dice), (path) => use(readRun(path).run));
  },
};
