import { loadLibrary } from '../../fabric/library.js';
import { findOffers } from '../../fabric/providers.js';
import { addon } from '../../native/addon.js';
import { orUnavailable, type PeerBuffers, together } from '../../peers/peer.js';
import type { Plan } from '../../plan/plan.js';
import type { Strategy } from '../../plan/strategies.js';
import { writePlan } from '../../plan/write-plan.js';
import type { Path } from '../../results/path.js';
import { pacingFor } from '../../session/pacing.js';
import type { PathTally } from '../../session/path/path-meter.js';
import {
  type AgreedFabric,
  agreeOnFabric,
  openSession,
  type Session,
} from '../../session/session.js';
import type { FabricSettings } from '../../settings/table.js';
import type { World } from '../../world/world.js';
import type { Backend } from './backend.js';
import type { Exchange } from './exchange.js';

interface FabricWish {
  readonly world: World;
  readonly exchange: Exchange;
  readonly settings: FabricSettings;
  readonly strategy: Strategy;
  readonly interfaces: readonly string[];
}

/** Weft's own engine: a plan over libfabric. It brings the tensors, which must be registered with the fabric. */
export class FabricBackend implements Backend {
  readonly id = 'fabric';
  readonly session: Session;
  readonly #exchange: Exchange;
  readonly #plan: Plan;
  /** Of the exchanges since the last was taken. */
  #tally: PathTally;

  private constructor(session: Session, { exchange, settings, strategy }: FabricWish) {
    const { world, fabric } = session;
    this.session = session;
    this.#tally = session.path.tally();
    this.#exchange = exchange;
    this.#plan = writePlan(exchange.traffic(), {
      rank: world.rank,
      channels: fabric.channels.length,
      strategy,
      ...pacingFor(fabric, settings, world.size),
    });
  }

  static async open(wish: FabricWish): Promise<FabricBackend> {
    const { world, exchange, settings, interfaces } = wish;
    await together(world, 'fabric open', () =>
      orUnavailable(undefined, () => {
        loadLibrary(settings);
      }),
    );
    const agreed = await requireFabric(world, settings, interfaces);
    const session = await openSession(world, settings, { agreed });
    try {
      await session.engine.prepare({
        sourceBytes: Math.max(leastBytes, exchange.sourceBytes(world.rank)),
        targetBytes: Math.max(leastBytes, exchange.targetBytes(world.rank)),
      });
      return new FabricBackend(session, wish);
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  get version(): string {
    const { fabric } = this.session;
    return `libfabric ${fabric.library.version} (${fabric.provider})`;
  }

  get tensors(): PeerBuffers {
    return { input: this.session.engine.source, output: this.session.engine.target };
  }

  /**
   * The copy of the rank's own block comes first and counts: it does not overlap with the exchange. All ranks copy at
   * the same time, as they would inside it.
   */
  async exchange(): Promise<number> {
    await this.session.world.barrier('own blocks');
    const copied = await this.#copyOwn();
    const loop = { plan: this.#plan, iterations: 1 };
    const [nanoseconds] = await this.#tally.during([loop], () =>
      this.session.engine.run(this.#plan, { iterations: 1 }),
    );
    // What comes next may be another library's exchange: it must not share its core with our looking around.
    this.session.fabric.port.stop();
    return copied + nanoseconds!;
  }

  /** Which NICs carried the exchanges. Every rank calls it; the answer is rank 0's. */
  async path(): Promise<Path | undefined> {
    const proof = await this.#tally.settle();
    this.#tally = this.session.path.tally();
    return proof?.path;
  }

  async close(): Promise<void> {
    await this.session[Symbol.asyncDispose]();
  }

  async #copyOwn(): Promise<number> {
    const { rank } = this.session.world;
    const own = this.#exchange.incoming(rank)[rank]!;
    if (own.bytes === 0) return 0;
    const { input, output } = this.tensors;
    return addon().copyBlock(input.native, output.native, own.sourceOffset, own.offset, own.bytes);
  }
}

/** A rank that sends or receives nothing has buffers all the same. */
const leastBytes = 64;

/**
 * The fabric to open, where every rank is offered it; else throws Unavailable on every rank. Once endpoints are being
 * opened, a rank that cannot go on ends the job. `iface` is about sockets: where the fabric runs over those, it names
 * the NICs, too.
 */
async function requireFabric(
  world: World,
  settings: FabricSettings,
  interfaces: readonly string[],
): Promise<AgreedFabric> {
  const wish = { ...settings, ...(interfaces.length > 0 && { socketNics: interfaces }) };
  const agreed = await orUnavailable('NO_PROVIDER', () => agreeOnFabric(world, wish));
  await together(world, 'fabric offers', () =>
    orUnavailable('NO_PROVIDER', () => {
      findOffers(agreed.options);
    }),
  );
  return agreed;
}
