import { hostname } from 'node:os';
import { gapFindings } from '../../analysis/diagnosis/gaps.js';
import type { GateFacts } from '../../analysis/gate/judge.js';
import { gateCells } from '../../analysis/gate/of-run.js';
import { suspectsOf } from '../../analysis/gate/suspects.js';
import { isWeftError, WeftError } from '../../errors.js';
import { bothWays, type RankPair } from '../../plan/rounds.js';
import { pairColumns } from '../../results/column-name.js';
import type { Row } from '../../results/schema.js';
import { defineBenchmark, type OpenBenchmark, type Procedure } from '../../runner/benchmark.js';
import { openSession, type Session } from '../../session/session.js';
import { NoRail, type UnusedNic } from '../../session/unused-nic.js';
import { numberAbove, option } from '../../settings/option.js';
import { onOneHost } from '../../world/same-host.js';
import type { World } from '../../world/world.js';
import { type PairJob, PairMeter } from '../pairs/pair-meter.js';
import { pairRow } from '../pairs/pair-row.js';
import { gateGaps } from './gaps.js';
import { gateRounds } from './rounds.js';

const options = {
  minGbps: option({
    flags: '--min-gbps <gbps>',
    help: 'minimum Gbps per NIC',
    kind: numberAbove(0),
    defaultText: '80 % of the line rate',
  }),
};

/** The measurement of `weft gate`. It is no command by itself, so the registry does not have it. */
export const gate = defineBenchmark({
  id: 'gate',
  summary: 'Measure every NIC of every node with two other nodes.',
  ranks: { min: 2 },
  columns: [{ name: pairColumns.bandwidth }],
  // Above the burst of a shaped link, and large enough for a fast one.
  sizes: { minBytes: 512 * 2 ** 10, maxBytes: 32 * 2 ** 20, factor: 2 },
  options,
  defaults: { budgetMs: 120 },
  without: ['columns', 'stepFactor', 'stepBytes', 'warmup', 'repeats'],
  fabric: 'own',
  open: openGate,
});

type GateProcedure = Procedure<typeof options>;

/** The name by which a scheduler knows this node, where it says. */
export const schedulersName = ({ WEFT_NODE, SLURMD_NODENAME } = process.env): string | undefined =>
  WEFT_NODE ?? SLURMD_NODENAME;

/** On one host each rank stands for a node. */
export const nodeName = (world: World): string =>
  onOneHost(world) ? `rank${world.rank}` : (schedulersName() ?? hostname());

/** Where no rail is left there is no session, and the rails are the result. */
async function openGate(procedure: GateProcedure): Promise<OpenBenchmark> {
  const { world, settings } = procedure;
  const nodes = await world.allgather('nodes', nodeName(world));
  if (new Set(nodes).size < 2) {
    throw new WeftError('BAD_USAGE', `all nodes have the same name, ${nodes[0]}`, {
      hint: 'Give each node its own host name, or set WEFT_NODE.',
    });
  }
  const record = { nodes };
  try {
    const session = await openSession(world, settings, { gaps: 'everyone' });
    const run = () => new GateScan(procedure, session, nodes).run();
    const kept = { ...record, warnings: session.warnings };
    return {
      session,
      record: kept,
      run,
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  } catch (error) {
    const none = isWeftError(error, 'UNREACHABLE') && error.cause;
    if (!(none instanceof NoRail)) throw error;
    const run = async () => tellGaps(procedure, none.unused, nodes);
    return { record, run, [Symbol.asyncDispose]: async () => {} };
  }
}

function tellGaps(
  { world, listener }: GateProcedure,
  unused: readonly UnusedNic[],
  nodes: readonly string[],
): void {
  const findings = gapFindings(gateGaps(unused, world.hosts, nodes));
  listener.diagnosed?.({ retested: true, findings, notConfirmed: [], pace: [], retests: [] });
}

/** What still looks slow when measured alone is measured again. More suspects than this are no accident. */
const retests = { times: 3, most: 8 };

/** Two peers for every node, each rail and direction by itself; then a second look at what was slow. */
class GateScan {
  readonly #procedure: GateProcedure;
  readonly #session: Session;
  readonly #nodes: readonly string[];
  readonly #rows: Row[] = [];

  constructor(procedure: GateProcedure, session: Session, nodes: readonly string[]) {
    this.#procedure = procedure;
    this.#session = session;
    this.#nodes = nodes;
  }

  async run(): Promise<void> {
    const { world, settings } = this.#procedure;
    const { wiring, fabric, unusedNics } = this.#session;
    const places = [...world.hosts.keys()].map((rank) => JSON.stringify(wiring.nics?.[rank]));
    const rounds = gateRounds(this.#nodes, places);
    const meter = await PairMeter.open(this.#session, settings, rounds[0]!);
    const rails = [...fabric.channels.keys()];
    await this.#measure(
      meter,
      rounds.flatMap((round) => rails.flatMap((rail) => jobsOf(round, rail))),
      false,
    );
    for (let look = 0; look < retests.times; look++) {
      const suspects = world.rank === 0 ? suspectsOf(this.#facts()).slice(0, retests.most) : [];
      const again = await world.broadcast('suspects', suspects);
      if (again.length === 0) break;
      const alone = again.flatMap(({ pair, rail }) => jobsOf([pair], rail));
      await this.#measure(meter, alone, true);
    }
    tellGaps(this.#procedure, unusedNics, this.#nodes);
  }

  #facts(): GateFacts {
    const { links } = this.#session;
    const nics = links.map(({ nic }, rail) => nic ?? String(rail));
    return {
      nodes: this.#nodes,
      nics,
      lineRatesGbps: links.map(({ lineRateGbps }) => lineRateGbps ?? null),
      minGbps: this.#procedure.options.minGbps,
      cells: gateCells(nics, this.#rows),
    };
  }

  async #measure(meter: PairMeter, jobs: readonly PairJob[], alone: boolean): Promise<void> {
    const { listener } = this.#procedure;
    for (const [index, job] of jobs.entries()) {
      const column = pairColumns[alone ? 'rail' : 'bandwidth'];
      listener.starting({ index, total: jobs.length, column, bytes: meter.bytesOf(job) });
      for (const one of (await meter.measure(job)) ?? []) {
        const row = pairRow(one, this.#session, alone);
        this.#rows.push(row);
        listener.row(row);
      }
    }
  }
}

const jobsOf = (round: readonly RankPair[], rail: number): PairJob[] =>
  bothWays(round).map((pairs) => ({ metric: 'bandwidth', pairs, rail }));
