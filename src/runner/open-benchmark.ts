import { pacingFor } from '../session/pacing.js';
import { openSession, type Session, type SessionOptions } from '../session/session.js';
import { describeUnused, isNetworkFault } from '../session/unused-nic.js';
import { agreedInput } from './agree-on-inputs.js';
import { isPlanned, type OpenBenchmark } from './benchmark.js';
import { columnsOf } from './columns.js';
import type { Job } from './job.js';
import type { RecordOptions } from './record-run.js';
import { runBenchmark } from './runner.js';

/** Opens what a benchmark runs on, and tells what is wrong with the hosts. Every rank calls it. */
export async function openBenchmark(options: RecordOptions): Promise<OpenBenchmark> {
  const opened = await open(options);
  for (const text of opened.session?.warnings ?? []) options.listener.warned?.(text);
  return opened;
}

async function open(options: RecordOptions): Promise<OpenBenchmark> {
  const { job, world, listener, iface, say = () => {} } = options;
  const { benchmark, settings } = job;
  const procedure = { world, settings, options: job.options, listener, iface, say };
  if (!isPlanned(benchmark)) {
    if (benchmark.fabric === 'own') return benchmark.open(procedure);
    if (!benchmark.fabric) {
      const run = () => benchmark.run(procedure);
      return { record: {}, run, [Symbol.asyncDispose]: async () => {} };
    }
  }
  const input = await agreedInput(job, world);
  const session = await openSession(world, settings, sessionOptions(job));
  return {
    session,
    record: { ...recordOf(job, session), ...input },
    run: () =>
      isPlanned(benchmark)
        ? runBenchmark({ ...job, benchmark }, session, listener, iface)
        : benchmark.run({ ...procedure, session }),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function sessionOptions(job: Job): SessionOptions {
  const { benchmark, settings } = job;
  if (isPlanned(benchmark)) {
    const asked = columnsOf(benchmark, settings.columns);
    return { deviceMemory: asked.some(({ memory }) => memory.id === 'device') };
  }
  if (benchmark.fabric !== true) return {};
  return {
    ...(benchmark.reportsGaps && { gaps: 'report' as const }),
    deviceMemory: benchmark.deviceMemory?.(job) ?? false,
  };
}

/** What was decided while the session was opened. */
function recordOf({ benchmark, settings }: Job, session: Session) {
  const { fabric, world, unusedNics, nicsNotByGpu, warnings } = session;
  // What is the network's fault is for a diagnosis to say.
  const leftOut = (otherKind: boolean) =>
    describeUnused(
      unusedNics.filter(
        (one) => !isNetworkFault(one) && (one.reason === 'other-kind') === otherKind,
      ),
    );
  const { chunkBytes, window, reduced } = pacingFor(fabric, settings, world.size);
  const planned = isPlanned(benchmark) ? benchmark : undefined;
  return {
    ...(planned && { pattern: planned.pattern }),
    chunkBytes: planned?.wholeMessages ? null : chunkBytes,
    window,
    windowReduced: reduced,
    ...listed('nicsLeftOut', leftOut(false)),
    ...listed('nicsNotMixed', leftOut(true)),
    ...(nicsNotByGpu && { nicsNotByGpu }),
    ...listed('warnings', warnings),
  };
}

const listed = (key: string, texts: readonly string[]) =>
  texts.length === 0 ? {} : { [key]: texts };
