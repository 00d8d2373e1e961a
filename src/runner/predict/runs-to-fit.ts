import { WeftError } from '../../errors.js';
import { formatBytes, plural } from '../../measure/units.js';
import { traitsOf } from '../../results/column-name.js';
import type { Run } from '../../results/schema.js';
import { type Benchmark, isPlanned } from '../benchmark.js';
import { figuresOfRuns, isStaged, type MeasuredFigure } from './calibrate.js';
import { modelledWorld, nicsOf, whyNotModelled } from './run-model.js';

/** What a fit reads of runs on one fabric. */
export interface RunsToFit {
  readonly figures: readonly MeasuredFigure[];
  readonly nicsPerRank: number;
  readonly lineRateGbps: number | undefined;
  readonly chunkBytes: number | undefined;
  /** What is left out and why, a sentence each. */
  readonly left: readonly string[];
}

/** `chunkBytes` is the model's where it is given, else that of the first run that the model covers. */
export function runsToFit(
  runs: readonly Run[],
  benchmarkById: (id: string) => Benchmark,
  chunkBytes: number | undefined,
): RunsToFit {
  const uncovered = runs.map((run) => whyNotCovered(run, benchmarkById(run.benchmark)));
  const covered = runs.filter((_, i) => uncovered[i] === undefined);
  refuseMixed(covered);
  const chunk = chunkBytes ?? covered.map(chunkOf).find((one) => one !== undefined);
  const reasons = runs.map((run, i) => uncovered[i] ?? whyOtherChunks(run, chunk));
  const used = runs.filter((_, i) => reasons[i] === undefined);
  if (used.length === 0) throw nothingLeft(runs[0]!, reasons[0]!);
  const nicsPerRank = Math.max(...used.map(nicsOf));
  // The model has one number of NICs: rows over several of them tell something only where a run used as many.
  const isOfFewer = (run: Run, column: string) =>
    nicsOf(run) < nicsPerRank && traitsOf(column).strategy !== 'single';
  return {
    figures: used.flatMap((run) =>
      figuresOfRuns([run]).filter(({ column }) => !isOfFewer(run, column)),
    ),
    nicsPerRank,
    lineRateGbps: used[0]!.fabric.channels[0]?.lineRateGbps ?? undefined,
    chunkBytes: chunk,
    left: [
      ...runs.flatMap(({ id }, i) => (reasons[i] ? [`${id} is left out: ${reasons[i]}`] : [])),
      ...used.flatMap((run) => leftRows(run, (column) => isOfFewer(run, column))),
    ],
  };
}

const chunkOf = ({ settings }: Run): number | undefined =>
  typeof settings.chunkBytes === 'number' ? settings.chunkBytes : undefined;

function whyNotCovered(run: Run, benchmark: Benchmark): string | undefined {
  const why = whyNotModelled(run);
  if (why !== undefined) return why;
  const world = modelledWorld(run);
  if (world === undefined) return 'it does not say whether ranks of one host share NICs';
  if (world.ranksPerNode > 1 && isPlanned(benchmark) && benchmark.clock === 'initiator') {
    return `the model covers ${benchmark.id} with one rank per node only`;
  }
  return undefined;
}

function whyOtherChunks(run: Run, chunk: number | undefined): string | undefined {
  const own = chunkOf(run);
  if (own === undefined || own === chunk) return undefined;
  return `its chunks are ${formatBytes(own)}, not ${formatBytes(chunk!)}`;
}

/** Rows of a run that is used. */
function leftRows({ id, rows, fabric }: Run, isOfFewer: (column: string) => boolean): string[] {
  const staged = rows.filter(isStaged).length;
  const fewer = rows.filter((row) => !isStaged(row) && isOfFewer(row.column)).length;
  const told = (count: number, why: string) =>
    count === 0 ? [] : [`${plural(count, 'row')} of ${id} left out: ${why}`];
  return [
    ...told(staged, 'GPU memory was staged through host memory, which the model does not include'),
    ...told(fewer, `other runs use more than ${plural(fabric.channels.length, 'NIC')} per rank`),
  ];
}

/** One model has one kind of NIC, opened in one way. Hosts may differ. */
function refuseMixed(runs: readonly Run[]): void {
  const fabrics = new Set(
    runs.map(({ fabric }) => {
      const rates = [...new Set(fabric.channels.map(({ lineRateGbps }) => lineRateGbps))];
      const words = rates.map((rate) => (rate == null ? 'an unknown rate' : `${rate} Gbps`));
      return `${fabric.provider} at ${words.join(' and ')}`;
    }),
  );
  if (fabrics.size <= 1) return;
  throw new WeftError(
    'BAD_USAGE',
    `the runs are of different fabrics: ${[...fabrics].join('; ')}`,
    {
      hint: 'Fit one model to the runs of each fabric.',
    },
  );
}

const nothingLeft = ({ id }: Run, why: string): WeftError =>
  new WeftError('BAD_USAGE', `no run can be used; ${id}: ${why}`, {
    hint: 'Measure write and sendrecv between hosts, with NICs of its own for each rank.',
  });
