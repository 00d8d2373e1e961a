import { randomInt } from 'node:crypto';
import { median } from '../../measure/quantile.js';
import { pairEcho, pairEchoTraffic, pairWrites } from '../../plan/patterns/between-pairs.js';
import type { Plan } from '../../plan/plan.js';
import type { RankPair } from '../../plan/rounds.js';
import { multi, onChannel, type Strategy } from '../../plan/strategies.js';
import type { Traffic } from '../../plan/traffic.js';
import { writePlan } from '../../plan/write-plan.js';
import type { Path } from '../../results/path.js';
import { addChecked, type Checked, seedOfCheck, verifyTimed } from '../../runner/verify.js';
import { pacingFor } from '../../session/pacing.js';
import { tcpResent } from '../../session/path/tcp-resent.js';
import type { Session } from '../../session/session.js';
import type { Settings } from '../../settings/table.js';
import { sameHost } from '../../world/same-host.js';
import { OwnPace } from './own-pace.js';

/** Some pairs at once, each rank in at most one; the first of each has the clock. */
export interface PairJob {
  readonly metric: 'bandwidth' | 'latency';
  readonly pairs: readonly RankPair[];
  /** Undefined: over all channels together. */
  readonly rail: number | undefined;
}

export interface PairSamples extends Pick<PairJob, 'metric' | 'rail'> {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  readonly batch: number;
  readonly samples: readonly number[];
  readonly checked: Checked;
  /** By each host once, whatever of its ranks; undefined where it is not TCP or not told. */
  readonly resent: number | undefined;
  readonly path: Path;
}

const latencyBytes = 8;
/** A direction of a round gets this share of `--budget-ms`; latency a fraction of that. */
const bandwidthShare = 0.5;
const latencyShare = 0.08;
/** Verification, and agreeing with all ranks on what was measured. */
const overheadMs = 100;
/** About how long a round takes on a fabric that fills the budget: both directions, bandwidth and latency. */
export const roundMs = (budgetMs: number): number =>
  2 * ((bandwidthShare + latencyShare) * budgetMs + 2 * overheadMs);
const samplesPlanned = 16;
const fewestSamples = 2;
const latencySamples = { fewest: 16, most: 32 };
const shortestSampleNs = 25_000;
const echoesToEstimate = 8;

interface Own {
  readonly samples: number[];
  readonly batch: number;
  readonly checked: Checked;
  readonly resent: number | null;
}

/** Measures pairs. Every rank makes the same calls in the same order; rank 0 gets what they gave. */
export class PairMeter {
  readonly #session: Session;
  readonly #settings: Settings;
  readonly #seed: number;
  readonly pace: OwnPace;
  #bytes: number;
  #checks = 0;

  private constructor(session: Session, settings: Settings, seed: number) {
    this.#session = session;
    this.#settings = settings;
    this.#seed = seed;
    this.pace = new OwnPace(session.world.rank);
    this.#bytes = settings.maxBytes;
  }

  /** `first` are pairs on which the size is found out. */
  static async open(
    session: Session,
    settings: Settings,
    first: readonly RankPair[],
  ): Promise<PairMeter> {
    const { world, engine, fabric } = session;
    const seed = await world.broadcast('seed', randomInt(2 ** 40));
    const bytes = Math.max(settings.maxBytes, 64 * fabric.channels.length);
    await engine.prepare({ sourceBytes: bytes, targetBytes: bytes });
    const meter = new PairMeter(session, settings, seed);
    await meter.#chooseBytes(first);
    return meter;
  }

  /** Over all rails; one rail alone carries its part of it, if that is not below the smallest size. */
  bytesOf({ metric, rail }: Pick<PairJob, 'metric' | 'rail'>): number {
    if (metric === 'latency') return latencyBytes;
    if (rail === undefined) return this.#bytes;
    const part = this.#bytes / this.#session.fabric.channels.length;
    return Math.min(this.#bytes, Math.max(this.#settings.minBytes, floorToPower(part)));
  }

  /**
   * So large that some dozen transfers of a healthy pair fill the budget, within the sizes asked for. The quickest
   * pair counts: the others may be ill. Rank 0 decides.
   */
  async #chooseBytes(pairs: readonly RankPair[]): Promise<void> {
    const { minBytes, maxBytes, budgetMs } = this.#settings;
    const { world, engine } = this.#session;
    if (minBytes === maxBytes) return;
    this.#bytes = minBytes;
    const { plan } = this.#planOf({ metric: 'bandwidth', pairs, rail: undefined });
    const samples = await engine.run(plan, { iterations: 5 });
    const initiator = pairs.some(([from]) => from === world.rank);
    const all = await world.gather('rates', initiator ? median(samples) : null);
    const times = (all ?? []).filter((ns): ns is number => ns !== null);
    const sampleNs = (budgetMs * 1e6 * bandwidthShare) / samplesPlanned;
    const wanted = times.length === 0 ? minBytes : (minBytes / Math.min(...times)) * sampleNs;
    const bytes = Math.min(maxBytes, Math.max(minBytes, floorToPower(wanted)));
    this.#bytes = await world.broadcast('bytes', bytes);
  }

  #planOf(job: PairJob): { traffic: Traffic; plan: Plan } {
    const { world, fabric } = this.#session;
    const { rank, size } = world;
    const { chunkBytes, window } = pacingFor(fabric, this.#settings, size);
    const count = fabric.channels.length;
    const base = { world: size, pairs: job.pairs, bytes: this.bytesOf(job) };
    if (job.metric === 'latency') {
      const channels = job.rail === undefined ? [...fabric.channels.keys()] : [job.rail];
      const echo = { ...base, channels };
      return { traffic: pairEchoTraffic(echo), plan: pairEcho({ ...echo, rank, window }) };
    }
    const traffic = pairWrites(base);
    const strategy = strategyOf(job.rail);
    const plan = writePlan(traffic, { rank, channels: count, strategy, chunkBytes, window });
    return { traffic, plan };
  }

  /** Verifies, estimates, times, verifies. Each pair has its own number of iterations: a slow one must not hold up all. */
  async measure(job: PairJob): Promise<PairSamples[] | undefined> {
    const { world, engine, fabric, path: paths } = this.#session;
    const { traffic, plan } = this.#planOf(job);
    world.note(`pairs ${job.metric} of ${job.pairs.length} pairs`);
    const resentBefore = tcpResent();
    const before = await this.#verify(
      traffic,
      plan,
      job.metric === 'latency' ? echoesToEstimate : 1,
    );
    const count = await this.#count(job, before.samples);
    const loop = { plan, iterations: count.iterations };
    const { result: samples, proof } = await paths.around([loop], () =>
      this.pace.during(() => engine.run(plan, count)),
    );
    const after = await this.#verify(traffic, plan, 1);
    const resent = resentSince(resentBefore, fabric.provider);
    const initiator = job.pairs.some(([from]) => from === world.rank);
    const own: Own = {
      samples: initiator ? [...samples].map(Math.round) : [],
      batch: count.batch,
      checked: addChecked([before.checked, after.checked]),
      resent: resent ?? null,
    };
    const all = await world.gather('pair samples', own);
    return (
      all &&
      job.pairs.map((pair) => ({
        ...this.#samplesOf(job, pair, all),
        path: proof!.between(...pair),
      }))
    );
  }

  #samplesOf(job: PairJob, [from, to]: RankPair, all: readonly Own[]): Omit<PairSamples, 'path'> {
    const [first, second] = [all[from]!, all[to]!];
    const { metric, rail } = job;
    const { members } = this.#session.world;
    // The kernel counts for a whole host: of two ranks inside one either has the count.
    const once = sameHost(members[from]!, members[to]!);
    const counts = once ? [first.resent] : [first.resent, second.resent];
    return {
      metric,
      rail,
      from,
      to,
      bytes: this.bytesOf(job),
      batch: first.batch,
      samples: first.samples,
      checked: addChecked([first.checked, second.checked]),
      resent: counts.includes(null) ? undefined : counts.reduce<number>((sum, n) => sum + n!, 0),
    };
  }

  /** Also warms up, and gives an idea of the time. */
  async #verify(traffic: Traffic, plan: Plan, iterations: number) {
    const { engine } = this.#session;
    if (this.#settings.check) {
      const seed = seedOfCheck(this.#seed, this.#checks++);
      return verifyTimed(engine, traffic, plan, seed, iterations);
    }
    const samples = await engine.run(plan, { iterations });
    return { checked: { bytes: 0, wrong: 0 }, samples };
  }

  async #count(job: PairJob, samples: Float64Array) {
    const { world } = this.#session;
    const latency = job.metric === 'latency';
    // The median: one stall must not make a quick pair look slow.
    const estimates = await world.allgather('estimates', median(samples));
    const counts = job.pairs.map(([from]) => this.#countFor(latency, estimates[from]!));
    const mine = job.pairs.findIndex((pair) => pair.includes(world.rank));
    const expectedMs = Math.max(...counts.map((count) => count.expectedMs));
    return { ...(mine < 0 ? { iterations: 1, batch: 1 } : counts[mine]!), expectedMs };
  }

  #countFor(latency: boolean, estimateNs: number) {
    const { iterations: asked, budgetMs } = this.#settings;
    const ns = Math.max(1, estimateNs);
    const expected = (iterations: number) => (iterations * ns) / 1e6;
    if (asked !== undefined) return { iterations: asked, batch: 1, expectedMs: expected(asked) };
    const batch = latency ? Math.max(1, Math.ceil(shortestSampleNs / ns)) : 1;
    const budgetNs = budgetMs * 1e6 * (latency ? latencyShare : bandwidthShare);
    const { fewest, most } = latency
      ? latencySamples
      : { fewest: fewestSamples, most: 1.5 * samplesPlanned };
    const samples = Math.min(most, Math.max(fewest, Math.round(budgetNs / (ns * batch))));
    return { iterations: samples * batch, batch, expectedMs: expected(samples * batch) };
  }
}

const strategyOf = (rail: number | undefined): Strategy =>
  rail === undefined ? multi : onChannel(rail);

const floorToPower = (bytes: number): number => 2 ** Math.floor(Math.log2(Math.max(1, bytes)));

const overTcp = new Set(['tcp', 'net', 'sockets']);

/** Only over TCP does the kernel know. */
function resentSince(before: number | undefined, provider: string): number | undefined {
  const now = overTcp.has(provider.split(';')[0]!) ? tcpResent() : undefined;
  return now === undefined || before === undefined ? undefined : Math.max(0, now - before);
}
