import type { Command } from 'commander';
import { WeftError } from '../errors.js';
import type { Chart } from '../report/chart.js';
import { chartsOf } from '../report/charts.js';
import { mergeRepeats } from '../results/repeats.js';
import { choice, option, text, wholeNumber } from '../settings/option.js';
import { expectedByModel, modelOption } from './expected.js';
import { addOptions, readOptions } from './options.js';
import { printOut } from './output/print.js';
import { writeWhole } from './output/write-whole.js';
import { pictureFile, readRuns } from './pictures.js';

const plotOptions = {
  out: option({
    flags: '-o, --out <file>',
    help: 'SVG file to write',
    kind: text,
    defaultText: 'next to the run',
  }),
  theme: option({
    flags: '--theme <theme>',
    help: 'colour theme: light, dark',
    kind: choice(['light', 'dark']),
    default: 'light',
  }),
  width: option({
    flags: '--width <pixels>',
    help: 'image width in pixels',
    kind: wholeNumber(320, 4000),
    default: 960,
  }),
  model: modelOption,
};

/** `weft plot RUN… -o FILE.svg`: the charts of a report as one SVG file. */
export function addPlotCommand(program: Command): void {
  const command = program
    .command('plot')
    .argument('<runs...>', 'run files to draw; several are compared')
    .description('Draw the charts of runs as one SVG file.')
    .option('--chart <ids...>', 'draw only these charts (default: all)');
  addOptions(command, plotOptions).action(async (paths: string[], raw: { chart?: string[] }) => {
    const { out, theme, width, model } = readOptions(raw, plotOptions);
    const file = pictureFile(out, paths, '.svg');
    const runs = readRuns(paths).map(mergeRepeats);
    const models = model === undefined ? undefined : expectedByModel(runs, model).models;
    const charts = chosen(chartsOf(runs, models), raw.chart);
    const { renderSvg } = await import('../report/svg.js');
    writeWhole(file, renderSvg(charts, { theme, widthPx: width }), '-o');
    printOut(`${file}\n`);
  });
}

function chosen(charts: readonly Chart[], ids: readonly string[] | undefined): Chart[] {
  if (charts.length === 0) {
    throw new WeftError('BAD_FILE', 'nothing to draw: no row was measured', {
      hint: 'Run weft report to see why rows were skipped or failed.',
    });
  }
  if (ids === undefined) return [...charts];
  return ids.map((id) => {
    const found = charts.find((chart) => chart.id === id);
    if (found !== undefined) return found;
    throw new WeftError('BAD_USAGE', `these runs have no chart "${id}"`, {
      hint: `Available charts: ${charts.map((chart) => chart.id).join(', ')}.`,
    });
  });
}
