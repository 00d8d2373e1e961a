import { isWeftError, WeftError } from '../errors.js';
import { outcomeOf } from '../results/rows.js';
import { RunFile } from '../results/run-file.js';
import { newRunId } from '../results/run-name.js';
import {
  type ErrorRecord,
  type Row,
  type Run,
  type RunHeader,
  runSchemaName,
} from '../results/schema.js';
import type { World } from '../world/world.js';
import type { Benchmark } from './benchmark.js';
import { type Listener, runBenchmark } from './runner.js';
import { openSession, pacingFor, type Session } from './session.js';
import type { Settings } from './settings.js';

/** A finished run on rank 0, and where it is kept. */
export interface Recorded {
  readonly run: Run;
  readonly path: string;
  /** Why it did not come to its end. */
  readonly error?: unknown;
}

export interface RecordOptions {
  readonly benchmark: Benchmark;
  readonly world: World;
  readonly settings: Settings;
  /** Default: a new file in the results folder. */
  readonly out?: string;
  readonly listener: Listener;
}

/**
 * Runs a benchmark on every rank; rank 0 keeps it on disk row by row and gets it back. Whatever ends the run early
 * is told to all ranks, marked in the file, and handed back with the rows there were.
 */
export async function recordRun(options: RecordOptions): Promise<Recorded | undefined> {
  const { benchmark, world, settings, listener } = options;
  refuseSmallWorld(benchmark, world);
  await using session = await openSession(world, settings);
  if (world.rank !== 0) {
    await runBenchmark(benchmark, session, settings, listener);
    return undefined;
  }
  const header = headerOf(benchmark, session, settings);
  const file = new RunFile(header, { path: options.out });
  const rows: Row[] = [];
  let error: unknown;
  try {
    await runBenchmark(benchmark, session, settings, {
      starting: (row) => listener.starting(row),
      row: (row) => {
        file.append(row);
        rows.push(row);
        listener.row(row);
      },
    });
  } catch (caught) {
    error = caught;
    await world.fail(caught);
  }
  const errors = [...wrongData(rows), ...(error === undefined ? [] : [errorRecord(error)])];
  const outcome = error === undefined ? outcomeOf(rows) : 'aborted';
  const footer = { endedAt: new Date().toISOString(), outcome, errors };
  try {
    file.finish(footer);
  } catch (caught) {
    error ??= caught;
  }
  const run: Run = { ...header, ...footer, rows };
  return { run, path: file.path, ...(error !== undefined && { error }) };
}

function refuseSmallWorld(benchmark: Benchmark, world: World): void {
  if (world.size >= benchmark.ranks.min) return;
  throw new WeftError(
    'BAD_USAGE',
    `${benchmark.id} needs ${benchmark.ranks.min} ranks, not ${world.size}`,
    {
      hint: 'Use --ranks here, or start more under torchrun, srun or mpirun.',
    },
  );
}

function headerOf(benchmark: Benchmark, session: Session, settings: Settings): RunHeader {
  const { world, fabric, links } = session;
  const startedAt = new Date();
  const pacing = pacingFor(fabric, settings, world.size);
  return {
    schema: runSchemaName,
    id: newRunId(benchmark.id, startedAt),
    benchmark: benchmark.id,
    startedAt: startedAt.toISOString(),
    world: { ranks: world.size, hosts: [...new Set(world.hosts)], launcher: world.launcher },
    fabric: {
      library: fabric.library.path,
      version: fabric.library.version,
      provider: fabric.provider,
      channels: links.map((link) => ({
        nic: link.nic ?? null,
        lineRateGbps: link.lineRateGbps ?? null,
      })),
    },
    settings: JSON.parse(
      JSON.stringify({
        ...settings,
        pattern: benchmark.pattern,
        chunkBytes: benchmark.wholeMessages ? null : pacing.chunkBytes,
        window: pacing.window,
        windowReduced: pacing.reduced,
        ...(session.leftOutNics.length > 0 && { nicsLeftOut: session.leftOutNics }),
        authenticated: world.authenticated,
      }),
    ),
  };
}

/** A wrong byte fails the run, not only its row. */
const wrongData = (rows: readonly Row[]): ErrorRecord[] =>
  rows
    .filter((row) => row.checked.wrong > 0)
    .map((row) => ({
      code: 'DATA_WRONG',
      message: `${row.column} at ${row.bytes} bytes: ${row.reason}`,
    }));

function errorRecord(error: unknown): ErrorRecord {
  if (!isWeftError(error)) return { code: 'INTERNAL', message: String(error) };
  return { code: error.code, message: error.message, ...(error.hint && { hint: error.hint }) };
}
