import type { Command } from 'commander';
import { normalOf } from '../analysis/normal/normal.js';
import { mergeRepeats } from '../results/repeats.js';
import { option, text } from '../settings/option.js';
import { expectedByModel, expectedOf, modelOption } from './expected.js';
import { addOptions, readOptions } from './options.js';
import { printOut } from './output/print.js';
import { writeWhole } from './output/write-whole.js';
import { pictureFile, readRuns } from './pictures.js';

const reportOptions = {
  out: option({
    flags: '-o, --out <file>',
    help: 'HTML file to write',
    kind: text,
    defaultText: 'next to the run',
  }),
  model: modelOption,
};

/** `weft report RUN… -o FILE.html`: one page that needs no network. */
export function addReportCommand(program: Command): void {
  const command = program
    .command('report')
    .argument('<runs...>', 'run files to show; several are compared')
    .description('Write runs as one self-contained HTML page.');
  addOptions(command, reportOptions).action(async (paths: string[], raw: unknown) => {
    const { out, model } = readOptions(raw, reportOptions);
    const file = pictureFile(out, paths, '.html');
    const runs = readRuns(paths);
    const merged = runs.map(mergeRepeats);
    const asked = model === undefined ? undefined : expectedByModel(merged, model);
    const normal = normalOf(merged, (run) => asked?.expected.get(run.id) ?? expectedOf(run));
    // Charts are a large library that no other command should wait for.
    const { renderReport } = await import('../report/html.js');
    writeWhole(file, renderReport(runs, { normal, ...(asked && { models: asked.models }) }), '-o');
    printOut(`${file}\n`);
  });
}
