import { extname } from 'node:path';
import type { Command } from 'commander';
import { type History, historyOf, usualTolerance } from '../analysis/history/history.js';
import type { SeriesFilter } from '../analysis/history/series.js';
import { WeftError } from '../errors.js';
import { parseDuration, plural } from '../measure/units.js';
import { folderError } from '../results/folder-error.js';
import { formatHistory, historyFormats } from '../results/formats/history.js';
import { formatHistoryMetrics } from '../results/formats/metrics.js';
import { resultsFolder } from '../results/run-file.js';
import { type RunIndex, readRunIndex } from '../results/run-index.js';
import { choice, onOff, option, percent, text, type ValueKind } from '../settings/option.js';
import { addOptions, readOptions } from './options.js';
import { printError, printOut } from './output/print.js';
import { StatusLine } from './output/status-line.js';
import { stdoutTerminal } from './output/terminal.js';
import { writeWhole } from './output/write-whole.js';
import { metricsOption } from './show-options.js';

/** A date, a time, or how long ago; as run files write times. */
const moment: ValueKind<string> = {
  parse: (value) => {
    const at = new Date(timeOf(value));
    if (Number.isNaN(at.getTime())) {
      throw new Error('It must be a date such as 2026-10-01, or a time span such as 90m, 30d, 8w.');
    }
    return at.toISOString();
  },
  inFile: 'date',
};

function timeOf(value: string): number {
  try {
    return Date.now() - parseDuration(value);
  } catch {
    return Date.parse(value);
  }
}

const historyOptions = {
  benchmark: option({ flags: '--benchmark <name>', help: 'only this benchmark', kind: text }),
  column: option({ flags: '--column <name>', help: 'only this column', kind: text }),
  since: option({
    flags: '--since <when>',
    help: 'only runs since this time, e.g. 2026-10-01, 30d, 12h',
    kind: moment,
  }),
  tolerance: option({
    flags: '--tolerance <percent>',
    help: 'ignore smaller changes',
    kind: percent,
    default: usualTolerance * 100,
  }),
  all: onOff('--all', 'show every row and every change'),
  format: option({
    flags: '--format <format>',
    help: `format: ${historyFormats.join(', ')}`,
    kind: choice(historyFormats),
    default: 'table',
  }),
  out: option({
    flags: '-o, --out <file>',
    help: 'also write charts to this .svg or .html file',
    kind: text,
  }),
  metrics: metricsOption,
};

/** `weft history [FOLDER]`: how every row developed over the runs of a folder. */
export function addHistoryCommand(program: Command): void {
  const command = program
    .command('history')
    .argument('[folder]', 'folder of run files', resultsFolder)
    .description('Show the trend of every row over many runs and when it changed.');
  addOptions(command, historyOptions).action(async (folder: string, raw: unknown) => {
    const { format, all, out, metrics, tolerance, ...filter } = readOptions(raw, historyOptions);
    const draw = out === undefined ? undefined : await drawerOf(out);
    const index = await indexOf(folder);
    const history = historyOf(index.runs, { ...filter, tolerance: tolerance / 100 });
    if (history.trends.length === 0) throw nothingFound(folder, index, filter);
    printOut(formatHistory(history, format, { ...stdoutTerminal(), all }));
    if (metrics !== undefined) writeWhole(metrics, formatHistoryMetrics(history), '--metrics');
    if (draw === undefined) return;
    writeWhole(out!, draw(history), '-o');
    printError(`weft: wrote ${out}\n`);
  });
}

async function indexOf(folder: string): Promise<RunIndex> {
  const index = await readWithStatus(folder).catch((cause) => {
    throw folderError(folder, cause);
  });
  tellOf(index);
  return index;
}

async function readWithStatus(folder: string): Promise<RunIndex> {
  using status = new StatusLine(false);
  return await readRunIndex(folder, {
    progress: (done, of) => {
      if (done % 100 === 0) status.say(`reading ${done} of ${of} files`);
    },
  });
}

/** What was left out, and what makes the next call slow. */
function tellOf({ skipped, unsaved, folder }: RunIndex): void {
  if (skipped.length > 0) {
    const { file, skipped: why } = skipped[0]!;
    const rest = skipped.length === 1 ? '' : ` and ${plural(skipped.length - 1, 'more file')}`;
    printError(`weft: skipped ${file} (${why})${rest}\n`);
  }
  if (unsaved !== undefined) {
    printError(
      `weft: cannot write the index to ${folder} (${unsaved}); every command will read all run files\n`,
    );
  }
}

function nothingFound(folder: string, { runs }: RunIndex, filter: SeriesFilter): WeftError {
  if (runs.length === 0) {
    return new WeftError('BAD_FILE', `${folder} contains no run files`, {
      hint: 'Name a folder of run files; benchmarks write theirs to weft-results/.',
    });
  }
  const benchmarks = [...new Set(runs.map(({ setup }) => setup.header.benchmark))];
  const asked = Object.values(filter).some((value) => value !== undefined);
  return new WeftError(
    'BAD_FILE',
    `no measured row in ${plural(runs.length, 'run')} of ${folder}`,
    {
      hint: asked
        ? `Check --benchmark, --column and --since. The folder has runs of ${benchmarks.join(', ')}.`
        : 'Run weft report to see why rows were skipped or failed.',
    },
  );
}

/** Charts are a large library that nothing else should wait for. */
async function drawerOf(file: string): Promise<(history: History) => string> {
  const ending = extname(file).toLowerCase();
  if (ending === '.html') return (await import('../report/history-page.js')).renderHistory;
  if (ending === '.svg') {
    const [{ renderSvg }, { historyCharts }] = await Promise.all([
      import('../report/svg.js'),
      import('../report/charts/history.js'),
    ]);
    return (history) => renderSvg(historyCharts(history));
  }
  throw new WeftError('BAD_USAGE', `-o ${file} does not end in .svg or .html`, {
    hint: 'Use a file name that ends in .svg or .html.',
  });
}
