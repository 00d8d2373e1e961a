import { type Command, InvalidArgumentError, Option } from 'commander';
import { WeftError } from '../errors.js';
import type { Chart } from '../report/chart.js';
import { chartsOf } from '../report/charts.js';
import type { ThemeName } from '../report/hydrate.js';
import { mergeRepeats } from '../results/repeats.js';
import { writeWhole } from './output/write-whole.js';
import { pictureFile, readRuns } from './pictures.js';

interface PlotOptions {
  readonly out?: string;
  readonly chart?: string[];
  readonly theme: ThemeName;
  readonly width: number;
}

const narrowestPx = 320;
const widestPx = 4000;

/** `weft plot RUN… -o FILE.svg`: the charts of a report as one SVG file. */
export function addPlotCommand(program: Command): void {
  program
    .command('plot')
    .argument('<runs...>', 'run files to draw; several are compared')
    .option('-o, --out <file>', 'SVG file to write (default: next to the run)')
    .option('--chart <ids...>', 'draw only these charts (default: all)')
    .addOption(
      new Option('--theme <theme>', 'colour theme').choices(['light', 'dark']).default('light'),
    )
    .option('--width <pixels>', 'image width in pixels', widthOf, 960)
    .description('Draw the charts of runs as one SVG file.')
    .action(async (paths: string[], { out, chart, theme, width }: PlotOptions) => {
      const file = pictureFile(out, paths, '.svg');
      const charts = chosen(chartsOf(readRuns(paths).map(mergeRepeats)), chart);
      const { renderSvg } = await import('../report/svg.js');
      writeWhole(file, renderSvg(charts, { theme, widthPx: width }), '-o');
      process.stdout.write(`${file}\n`);
    });
}

function widthOf(text: string): number {
  const width = Number(text);
  if (!Number.isInteger(width) || width < narrowestPx || width > widestPx) {
    throw new InvalidArgumentError(`Use ${narrowestPx} to ${widestPx} pixels.`);
  }
  return width;
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
