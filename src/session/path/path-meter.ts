import { setTimeout as sleep } from 'node:timers/promises';
import { judgePath } from '../../analysis/path/judge-path.js';
import {
  backgroundBytes,
  bytesOf,
  type Carried,
  directions,
  type NicObservation,
  none,
} from '../../analysis/path/observation.js';
import type { Fabric } from '../../fabric/fabric.js';
import { isRdma, isSockets } from '../../fabric/providers.js';
import { groupBy } from '../../measure/group.js';
import type { Path } from '../../results/path.js';
import type { World } from '../../world/world.js';
import { addCarried, carriedBetween, HostCounters, type Reading } from './counters.js';
import { type PackedPlan, type Place, packPlanned, placesOf, sumPlanned } from './packing.js';
import { hostsOf, type Loop, loopback, plannedOf, type Routes, ranksOn } from './routes.js';
import { tcpResent } from './tcp-resent.js';

/** Some drivers bring their counters up to date once a second. */
const lateMs = 1100;

/** What a rank knows after its loops. */
interface Report {
  readonly planned: readonly PackedPlan[];
  /** From the first rank of each host; of NICs that no channel uses only those that carried something. */
  readonly carried?: readonly CarriedBy[] | undefined;
  readonly resent?: number | undefined;
}

interface CarriedBy extends Carried {
  readonly nic: string;
  readonly mtu?: number | undefined;
}

/**
 * Proof of the path: the counters of all NICs of all hosts around timed loops, against what the plans of all ranks say.
 * The first rank of each host reads them for its host. Every rank makes the same calls in the same order.
 */
export class PathMeter {
  readonly world: World;
  readonly routes: Routes;
  /** Every NIC that a plan may use. */
  readonly places: readonly Place[];
  /** Of this host, on its first rank. */
  readonly counters: HostCounters | undefined;
  /** A shortfall was still there when drivers had had the time to count: it need not be waited for again. */
  isFresh = false;

  private constructor(world: World, routes: Routes) {
    this.world = world;
    this.routes = routes;
    this.places = placesOf(routes);
    const first = routes.hostOf.indexOf(routes.hostOf[world.rank]!) === world.rank;
    this.counters = first && routes.provider !== 'shm' ? new HostCounters() : undefined;
  }

  /** `localShm`: the user lets the ranks of a host use shared memory, where the provider can. */
  static async open(world: World, fabric: Fabric, localShm: boolean): Promise<PathMeter> {
    const mine = {
      nics: fabric.channels.map(({ nic }) => nic),
      emulated: fabric.channels.some(({ emulated }) => emulated),
      emulatedWrites: fabric.channels.some(({ emulatedWrites }) => emulatedWrites),
    };
    const all = await world.allgather('NICs of channels', mine);
    return new PathMeter(world, {
      hostOf: hostsOf(world),
      nics: all.map(({ nics }) => nics),
      provider: fabric.provider,
      emulated: all.some((one) => one.emulated),
      emulatedWrites: all.some((one) => one.emulatedWrites),
      localShm: localShm && fabric.localShm?.allowed === true,
    });
  }

  tally(): PathTally {
    return new PathTally(this);
  }

  /** For loops that run in one go. */
  async around<T>(
    loops: readonly Loop[],
    work: () => Promise<T>,
  ): Promise<{ result: T; proof: PathProof | undefined }> {
    const tally = this.tally();
    const result = await tally.during(loops, work);
    return { result, proof: await tally.settle() };
  }
}

/** What was seen of some loops, on rank 0. */
export class PathProof {
  /** Of all hosts. */
  readonly path: Path;
  readonly #observed: readonly NicObservation[];
  readonly #hostOf: readonly number[];
  readonly #ofHost: ReadonlyMap<number, readonly NicObservation[]>;

  constructor(observed: readonly NicObservation[], hostOf: readonly number[], resent: number) {
    this.path = { ...judgePath(observed), ...(resent > 0 && { tcpRetransmits: resent }) };
    this.#observed = observed;
    this.#hostOf = hostOf;
    this.#ofHost = groupBy(observed, ({ place }) => place);
  }

  /** What all NICs that plans use counted, both ways. */
  get carriedBytes(): number {
    return this.#sum(({ carried }) => (carried ? carried.txBytes + carried.rxBytes : 0));
  }

  /** What they should have counted and did not. */
  get missingBytes(): number {
    return this.#sum(({ planned, carried }) =>
      directions.reduce(
        (sum, way) => sum + Math.max(0, bytesOf(planned!, way) - bytesOf(carried ?? none, way)),
        0,
      ),
    );
  }

  #sum(bytes: (one: NicObservation) => number): number {
    return this.#observed
      .filter(({ planned }) => planned !== undefined)
      .reduce((sum, one) => sum + bytes(one), 0);
  }

  /** Of the hosts of two ranks, where pairs share a loop. Pairs are many: bytes are kept where they went elsewhere. */
  between(a: number, b: number): Path {
    const ends = new Set([this.#hostOf[a]!, this.#hostOf[b]!]);
    const path = judgePath([...ends].flatMap((host) => this.#ofHost.get(host) ?? []));
    return path.asPlanned === false ? path : { ...path, nics: [] };
  }
}

/** What the loops of one row carried. */
export class PathTally {
  readonly #meter: PathMeter;
  readonly #loops: Loop[] = [];
  readonly #carried = new Map<string, Carried>();
  #last: Reading | undefined;
  #resent: number | undefined;

  constructor(meter: PathMeter) {
    this.#meter = meter;
  }

  /**
   * Reads the counters, works and reads them again. The work must start and end with a barrier of all ranks, as every
   * run of a plan does: no rank's bytes then pass before the first reading or after the last.
   */
  async during<T>(loops: readonly Loop[], work: () => Promise<T>): Promise<T> {
    const { routes, counters } = this.#meter;
    const resent = isSockets(routes.provider) && counters ? tcpResent() : undefined;
    this.#last = counters?.read();
    const result = await work();
    if (resent !== undefined) {
      this.#resent = (this.#resent ?? 0) + Math.max(0, (tcpResent() ?? resent) - resent);
    }
    await this.#look();
    this.#loops.push(...loops);
    return result;
  }

  /**
   * Every rank calls it; the answer is rank 0's. What looks short is looked at again when drivers have caught up. While
   * one waits, others may use the NIC: more than was missing proves nothing, and the first answer stands.
   */
  async settle(): Promise<PathProof | undefined> {
    const { world } = this.#meter;
    const first = await this.#judge();
    const doubted = first?.path.asPlanned === false && !this.#meter.isFresh;
    if (!(await world.broadcast('path in doubt', doubted))) return first;
    if (this.#last) await sleep(lateMs);
    await this.#look();
    const second = await this.#judge();
    if (!first || !second) return undefined;
    this.#meter.isFresh = second.carriedBytes - first.carriedBytes < backgroundBytes;
    return second.carriedBytes - first.carriedBytes > 2 * first.missingBytes ? first : second;
  }

  /** Adds what the counters gained since they were last read. */
  async #look(): Promise<void> {
    if (!this.#last) return;
    const now = await this.#meter.counters!.readFresh();
    for (const [nic, after] of now) {
      const before = this.#last.get(nic);
      const gained = before && carriedBetween(before, after);
      if (gained) this.#carried.set(nic, addCarried(this.#carried.get(nic), gained));
    }
    this.#last = now;
  }

  async #judge(): Promise<PathProof | undefined> {
    const { world, routes, places } = this.#meter;
    const report: Report = {
      planned: packPlanned(plannedOf(routes, world.rank, this.#loops), places),
      carried: this.#ofHost(),
      resent: this.#resent,
    };
    const all = await world.gather<Report>('path', report);
    if (!all) return undefined;
    const resent = all.reduce((sum, own) => sum + (own.resent ?? 0), 0);
    return new PathProof(observed(all, this.#meter), routes.hostOf, resent);
  }

  #ofHost(): CarriedBy[] | undefined {
    const { counters, routes } = this.#meter;
    if (!counters) return undefined;
    const used = new Set([...routes.nics.flat(), loopback]);
    const twice = isRdma(routes.provider) ? counters.carriers : new Set<string>();
    return [...this.#carried]
      .filter(([nic, { txBytes, rxBytes }]) => used.has(nic) || txBytes + rxBytes > 0)
      .filter(([nic]) => !twice.has(nic))
      .map(([nic, carried]) => ({ nic, mtu: counters.mtuOf(nic), ...carried }));
  }
}

/** The reports of all ranks, by host and NIC. */
function observed(
  reports: readonly Report[],
  { routes, places, world }: PathMeter,
): NicObservation[] {
  const { hostOf } = routes;
  const hostName = (host: number) => world.hosts[hostOf.indexOf(host)]!;
  const keyOf = (host: number, nic: string) => `${host} ${nic}`;
  const found = new Map<string, NicObservation>();
  const sums = sumPlanned(
    reports.map(({ planned }) => planned),
    places,
  );
  for (const [number, planned] of sums.entries()) {
    const { host, nic } = places[number]!;
    if (!planned) continue;
    const ranks = ranksOn(routes, host, nic);
    found.set(keyOf(host, nic), { place: host, host: hostName(host), ranks, nic, planned });
  }
  for (const [rank, { carried = [] }] of reports.entries()) {
    const host = hostOf[rank]!;
    for (const { nic, mtu, ...own } of carried) {
      const unplanned = { place: host, host: hostName(host), ranks: [], nic };
      const known = found.get(keyOf(host, nic)) ?? unplanned;
      found.set(keyOf(host, nic), { ...known, carried: own, mtu });
    }
  }
  return [...found.values()];
}
