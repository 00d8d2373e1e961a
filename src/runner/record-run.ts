import { isWeftError, WeftError } from '../errors.js';
import type { Diagnosis } from '../results/finding.js';
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
import { openSession, pacingFor, type Session, type SessionOptions } from '../session/session.js';
import type { World } from '../world/world.js';
import { type Benchmark, isPlanned, type Procedure, usesFabric } from './benchmark.js';
import { type Listener, runBenchmark } from './runner.js';
import { columnsOf, type Settings } from './settings.js';

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
  const { benchmark, world, settings, listener, out } = options;
  refuseSmallWorld(benchmark, world);
  const open = async () =>
    usesFabric(benchmark)
      ? await openSession(world, settings, sessionOptions(benchmark, settings))
      : undefined;
  let session = await open();
  // A session of its own for each repeat: what connections differ by belongs to the spread.
  const repeatedly = async (heard: Heard) => {
    for (let repeat = 0; repeat < settings.repeats; repeat++) {
      session ??= await open();
      const recording: Listener = {
        starting: (next) => listener.starting(next),
        row: (one) => heard.row(settings.repeats > 1 ? { ...one, repeat } : one),
        diagnosed: (diagnosis) => heard.diagnosed?.(diagnosis),
      };
      await runAny({ benchmark, world, session, settings, listener: recording });
      await session?.[Symbol.asyncDispose]();
      session = undefined;
    }
  };
  try {
    if (world.rank !== 0) return void (await repeatedly(listener));
    const header = headerOf({ benchmark, world, session, settings });
    return await keepRun({ header, world, out }, (append, diagnosed) => {
      const row = (one: Row) => {
        append(one);
        listener.row(one);
      };
      return repeatedly({ row, diagnosed });
    });
  } finally {
    await session?.[Symbol.asyncDispose]();
  }
}

/** What a run leaves behind. */
type Heard = Pick<Listener, 'row' | 'diagnosed'>;

export interface Keeping {
  readonly header: RunHeader;
  readonly world: World;
  /** Default: a new file in the results folder. */
  readonly out?: string | undefined;
}

/**
 * Rank 0's side of a run: every row that `body` appends is on disk at once. What `body` throws is told to all ranks,
 * marked in the file, and handed back with the rows there were.
 */
export async function keepRun(
  { header, world, out }: Keeping,
  body: (append: Heard['row'], diagnosed: (diagnosis: Diagnosis) => void) => Promise<void>,
): Promise<Recorded> {
  const file = new RunFile(header, { path: out });
  const rows: Row[] = [];
  let error: unknown;
  let diagnosis: Diagnosis | undefined;
  try {
    const append = (row: Row) => {
      file.append(row);
      rows.push(row);
    };
    await body(append, (found) => {
      diagnosis = found;
    });
  } catch (caught) {
    error = caught;
    await world.fail(caught);
  }
  const errors = [...wrongData(rows), ...(error === undefined ? [] : [errorRecord(error)])];
  const outcome = error === undefined ? outcomeOf(rows) : 'aborted';
  const endedAt = new Date().toISOString();
  const footer = { endedAt, outcome, errors, ...(diagnosis && { diagnosis }) };
  try {
    file.finish(footer);
  } catch (caught) {
    error ??= caught;
  }
  const run: Run = { ...header, ...footer, rows };
  return { run, path: file.path, ...(error !== undefined && { error }) };
}

function sessionOptions(benchmark: Benchmark, settings: Settings): SessionOptions {
  if (!isPlanned(benchmark)) {
    if (!benchmark.fabric) return {};
    return {
      ...(benchmark.reportsGaps && { gaps: 'report' as const }),
      deviceMemory: benchmark.deviceMemory?.(settings) ?? false,
    };
  }
  const asked = columnsOf(benchmark, settings.columns);
  return { deviceMemory: asked.some(({ memory }) => memory.id === 'device') };
}

interface RunParts extends Procedure {
  readonly benchmark: Benchmark;
  /** Absent where the benchmark needs no fabric. */
  readonly session: Session | undefined;
}

async function runAny({ benchmark, session, ...procedure }: RunParts): Promise<void> {
  const { settings, listener } = procedure;
  if (!isPlanned(benchmark) && !benchmark.fabric) return benchmark.run(procedure);
  if (!session) throw new TypeError(`${benchmark.id} needs a session`);
  if (!isPlanned(benchmark)) return benchmark.run({ ...procedure, session });
  return runBenchmark(benchmark, session, settings, listener);
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

function headerOf({ benchmark, world, session, settings }: Omit<RunParts, 'listener'>): RunHeader {
  const startedAt = new Date();
  return {
    schema: runSchemaName,
    id: newRunId(benchmark.id, startedAt),
    benchmark: benchmark.id,
    startedAt: startedAt.toISOString(),
    world: {
      ranks: world.size,
      hosts: [...new Set(world.hosts)],
      launcher: world.launcher,
      hostOfRank: [...world.hosts],
    },
    fabric: fabricOf(session),
    settings: JSON.parse(
      JSON.stringify({
        ...settings,
        ...(session && pacingRecord(benchmark, session, settings)),
        authenticated: world.authenticated,
      }),
    ),
  };
}

const noFabric = { library: null, version: null, provider: null, channels: [] };

/** What a run file says of the fabric. */
export function fabricOf(
  session: Pick<Session, 'fabric' | 'links'> | undefined,
): RunHeader['fabric'] {
  if (!session) return noFabric;
  const { fabric, links } = session;
  return {
    library: fabric.library.path,
    version: fabric.library.version,
    provider: fabric.provider,
    channels: links.map((link) => ({
      nic: link.nic ?? null,
      lineRateGbps: link.lineRateGbps ?? null,
    })),
  };
}

function pacingRecord(benchmark: Benchmark, session: Session, settings: Settings) {
  const { fabric, world, leftOutNics, nicsNotByGpu } = session;
  const { chunkBytes, window, reduced } = pacingFor(fabric, settings, world.size);
  const planned = isPlanned(benchmark) ? benchmark : undefined;
  return {
    ...(planned && { pattern: planned.pattern }),
    chunkBytes: planned?.wholeMessages ? null : chunkBytes,
    window,
    windowReduced: reduced,
    ...(leftOutNics.length > 0 && { nicsLeftOut: leftOutNics }),
    ...(nicsNotByGpu && { nicsNotByGpu }),
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
