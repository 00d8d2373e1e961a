import { type Command, Option } from 'commander';
import { z } from 'zod';
import {
  allToAllSingle,
  allToAllSingleId,
} from '../benchmarks/all-to-all-single/all-to-all-single.js';
import { dtypes } from '../benchmarks/all-to-all-single/dtype.js';
import { Exchange, uniformMatrix } from '../benchmarks/all-to-all-single/exchange.js';
import {
  parseImbalance,
  readMatrix,
  zipfMatrix,
} from '../benchmarks/all-to-all-single/imbalance.js';
import { namedInterfaces } from '../benchmarks/all-to-all-single/interfaces.js';
import { timestamp } from '../benchmarks/all-to-all-single/log.js';
import {
  describeStart,
  findMpi,
  type MpiLauncher,
  startByMpi,
} from '../benchmarks/all-to-all-single/mpirun.js';
import {
  checkRequest,
  checkWorld,
  type ExchangeRequest,
  parseBackends,
} from '../benchmarks/all-to-all-single/request.js';
import { WeftError } from '../errors.js';
import { explain } from '../plan/explain.js';
import { multi } from '../plan/strategies.js';
import type { FabricSettings } from '../session/fabric-settings.js';
import { preferredPacing } from '../session/session.js';
import { ancestors, identify, type World } from '../world/index.js';
import { print } from './bench.js';
import { addShowOptions, defaultRanks, readShow, type ShowOptions } from './bench-options.js';
import { addFabricOptions, readFabricOptions } from './fabric-options.js';
import { exitCode } from './failure.js';
import { inRanks } from './in-ranks.js';
import { bytes, parsed, positive } from './option-parsers.js';
import { stdoutTerminal } from './terminal.js';

interface Asked {
  readonly request: ExchangeRequest;
  readonly settings: FabricSettings;
  readonly show: ShowOptions;
}

/** `weft all-to-all-single`: one exchange as torch.distributed's, by several libraries in one job. */
export function addAllToAllSingleCommand(program: Command): void {
  const command = program
    .command(allToAllSingleId)
    .description(
      'One uniform exchange with logs and verification, and the same by other libraries.',
    )
    .option('--msg-bytes <size>', 'bytes to every rank (default: 4M)', bytes)
    .addOption(new Option('--dtype <type>', 'of the elements').choices(dtypes).default('float32'))
    .option(
      '--backend <list>',
      'fabric, gloo, mpi, nccl, with commas between them (default: nccl where GPUs are, else fabric)',
      parsed(parseBackends),
    )
    .option('-n, --iters <count>', 'exchanges per backend', positive, 1)
    .option('--imbalance <law>', 'zipf:S: all ranks favour the same few', parsed(parseImbalance))
    .option('--matrix <file>', 'CSV: bytes from each rank (line) to each rank');
  addFabricOptions(addShowOptions(command)).action(async (raw: unknown) => {
    process.exitCode = await run(read(raw));
  });
}

const schema = z.object({
  msgBytes: z.number().optional(),
  dtype: z.enum(dtypes),
  backend: z.array(z.enum(['fabric', 'gloo', 'mpi', 'nccl'])).optional(),
  iters: z.number(),
  imbalance: z.number().optional(),
  matrix: z.string().optional(),
});

const defaultBytes = 4 * 2 ** 20;

function read(raw: unknown): Asked {
  const { msgBytes, dtype, backend, iters, imbalance, matrix } = schema.parse(raw);
  if (matrix !== undefined && (msgBytes !== undefined || imbalance !== undefined)) {
    throw new WeftError('BAD_USAGE', '--matrix says how many bytes go where by itself', {
      hint: 'Leave out --msg-bytes and --imbalance, or --matrix.',
    });
  }
  const request: ExchangeRequest = {
    msgBytes: msgBytes ?? defaultBytes,
    dtype,
    iterations: iters,
    ...(backend && { backends: backend }),
    ...(imbalance !== undefined && { zipf: imbalance }),
    ...(matrix !== undefined && { matrix }),
  };
  return { request, settings: readFabricOptions(raw), show: readShow(raw) };
}

async function run(asked: Asked): Promise<number> {
  const { request, settings, show } = asked;
  if (show.explain) {
    process.stdout.write(`${explainExchange(asked, show.ranks ?? defaultRanks)}\n`);
    return exitCode.ok;
  }
  const first = startsRanks(show);
  const localRanks = first ? localRanksOf(asked) : defaultRanks;
  const mpi = first && request.backends?.includes('mpi') ? findMpi() : undefined;
  return inRanks({
    show,
    localRanks,
    pin: settings.pin,
    gpus: settings.gpus,
    timeoutMs: settings.timeoutMs,
    everyoneSpeaks: true,
    preflight: () => {
      checkRequest(request);
      checkWorld(localRanks, request.backends);
      namedInterfaces(process.env, show.iface);
    },
    launch: mpi && (() => launch(mpi, asked, localRanks)),
    work: (world) => workOf(asked, world),
  });
}

/** Whether this process is the one that starts the ranks, and not one of them. */
function startsRanks({ ranks }: ShowOptions): boolean {
  const identity = identify(process.env, { ancestors, ...(ranks !== undefined && { ranks }) });
  return identity.launcher === 'single';
}

/** A matrix knows how many ranks it is for. */
function localRanksOf({ request, show }: Asked): number {
  if (show.ranks !== undefined || request.matrix === undefined) return show.ranks ?? defaultRanks;
  return readMatrix(request.matrix, request.dtype).length;
}

async function launch(mpi: MpiLauncher, { settings, show }: Asked, ranks: number) {
  const [, script = '', ...args] = process.argv;
  const start = { ranks, pin: settings.pin, command: process.execPath, args: [script, ...args] };
  if (!show.quiet) process.stderr.write(`weft: ${describeStart(mpi, start)}\n`);
  const { code, signal, explained } = await startByMpi(mpi, start);
  if (code === exitCode.ok) return exitCode.ok;
  if (!explained) {
    const how = signal === undefined ? `exited with code ${code}` : `was killed by ${signal}`;
    process.stderr.write(`weft: ${mpi.command} ${how}, and no rank said why\n`);
  }
  // Of a rank that was killed mpirun makes a code of its own.
  return Object.values<number | undefined>(exitCode).includes(code) ? code! : exitCode.failed;
}

async function workOf({ request, settings, show }: Asked, world: World): Promise<number> {
  // What a program reads must not have a log in it.
  const stream = show.format === 'table' ? process.stdout : process.stderr;
  const recorded = await allToAllSingle({
    world,
    request,
    settings,
    iface: show.iface,
    out: show.out,
    say: (text) => {
      if (!show.quiet) stream.write(`[${timestamp(new Date())}] ${text}\n`);
    },
  });
  // The others' last lines come before the table.
  await world.barrier('log');
  return recorded ? print(recorded, show) : exitCode.ok;
}

function explainExchange({ request, settings }: Asked, world: number): string {
  checkRequest(request);
  const { msgBytes, dtype, zipf, matrix } = request;
  const exchange = new Exchange(
    matrix !== undefined
      ? readMatrix(matrix, dtype)
      : zipf === undefined
        ? uniformMatrix(world, msgBytes)
        : zipfMatrix(world, msgBytes, zipf, dtype),
    dtype,
  );
  const channels = settings.channels ?? settings.nics?.length ?? 1;
  const pacing = preferredPacing(settings.provider ?? 'shm');
  return explain({
    traffic: exchange.traffic(),
    strategy: multi,
    links: Array.from({ length: channels }, (_, channel) => ({
      nic: settings.nics?.[channel],
      lineRateGbps: settings.lineRateGbps,
    })),
    unicode: stdoutTerminal().unicode,
    chunkBytes: settings.chunkBytes ?? pacing.chunkBytes,
    window: settings.window ?? pacing.window,
  });
}
