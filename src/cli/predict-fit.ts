import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { Command } from 'commander';
import { benchmarkById } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { readFigures } from '../reference/csv.js';
import { traitsOf } from '../results/column-name.js';
import { formatFit } from '../results/formats/fit.js';
import {
  fitRows,
  type MeasuredFigure,
  parseRowChoice,
  type RowChoice,
} from '../runner/predict/calibrate.js';
import { type RunsToFit, runsToFit } from '../runner/predict/runs-to-fit.js';
import type { ValuesOf } from '../settings/option.js';
import { fitOptions } from '../settings/predict.js';
import { fabricSchemaName } from '../simulate/fabric-model.js';
import { fitModel } from '../simulate/fit.js';
import { addOptions, parsed, readOptions } from './options.js';
import { printError, printOut } from './output/print.js';
import { writeWhole } from './output/write-whole.js';
import { readRuns } from './pictures.js';
import { formatOption } from './show-options.js';

const table = { ...fitOptions, format: formatOption };
type Asked = ValuesOf<typeof table>;

/** `weft predict fit RUN…|CSV -o FILE`: the parameters of a model from measured rows. */
export function addFitCommand(predict: Command): void {
  const command = predict
    .command('fit')
    .argument('<inputs...>', 'run files, or CSV tables of measured times')
    .description('Fit a model of a fabric to sendrecv and single-channel write rows.')
    .option(
      '--also <row>',
      'row to add: all2all:SingleDMA:32M (repeatable)',
      (value: string, list: RowChoice[] = []) => [...list, parsed(parseRowChoice)(value)],
    );
  addOptions(command, table).action((inputs: string[], raw: { also?: RowChoice[] }) => {
    const asked = readOptions(raw, table);
    const { figures, measured } = read(inputs, asked);
    for (const sentence of measured?.left ?? []) printError(`weft: ${sentence}\n`);
    const frame = frameOf(inputs, figures, measured, asked);
    const fitted = fitModel(frame, fitRows(figures, raw.also ?? [], benchmarkById));
    if (asked.out !== undefined) {
      writeWhole(asked.out, `${JSON.stringify(fitted.model, null, 2)}\n`, '-o');
    }
    printOut(formatFit(fitted, asked.format));
  });
}

function read(inputs: readonly string[], { exchangeNodes, chunkBytes }: Asked) {
  const [tables, files] = [true, false].map((csv) =>
    inputs.filter((input) => (extname(input) === '.csv') === csv),
  ) as [string[], string[]];
  const runs = files.length === 0 ? [] : readRuns(files);
  const measured = runs.length === 0 ? undefined : runsToFit(runs, benchmarkById, chunkBytes);
  const figures: MeasuredFigure[] = [
    ...tables.flatMap((file) => readFigures(textOf(file), file)),
    ...(measured?.figures ?? []),
  ];
  const isExchange = ({ benchmark }: MeasuredFigure) => {
    const found = benchmarkById(benchmark);
    return 'pattern' in found && found.pattern === 'allToAll';
  };
  return {
    measured,
    figures: figures.map((figure) =>
      exchangeNodes !== undefined && isExchange(figure)
        ? { ...figure, nodes: exchangeNodes }
        : figure,
    ),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new WeftError('BAD_FILE', `cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
}

const usesGpuMemory = ({ column }: MeasuredFigure): boolean => traitsOf(column).memory === 'device';

/** What is not fitted: as given, else as the runs have it. */
function frameOf(
  inputs: readonly string[],
  figures: readonly MeasuredFigure[],
  measured: RunsToFit | undefined,
  asked: Asked,
) {
  return {
    schema: fabricSchemaName,
    name: asked.name ?? basename(inputs[0]!, extname(inputs[0]!)),
    source: `fitted to ${inputs.map((input) => basename(input)).join(', ')}`,
    nicsPerRank: asked.nicsPerRank ?? measured?.nicsPerRank ?? 4,
    lineRateGbps: asked.lineRateGbps ?? measured?.lineRateGbps ?? 100,
    ...(measured && !figures.some(usesGpuMemory) && { gpus: false }),
    chunkBytes: asked.chunkBytes ?? measured?.chunkBytes ?? 2 ** 20,
  } as const;
}
