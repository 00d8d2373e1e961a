import {
  CellTable,
  matrixMetrics,
  type Places,
  railMetrics,
} from '../../analysis/diagnosis/cells.js';
import { diagnosisOf } from '../../analysis/diagnosis/diagnosis.js';
import type { Gap } from '../../analysis/diagnosis/gaps.js';
import { findSuspects, type ScanResult } from '../../analysis/diagnosis/suspects.js';
import { WeftError } from '../../errors.js';
import { bothWays, type RankPair } from '../../plan/rounds.js';
import { closerRounds, coverageOf } from '../../plan/scan-coverage.js';
import { scanRounds } from '../../plan/scan-rounds.js';
import { pairColumns } from '../../results/column-name.js';
import type { Pace, Scan } from '../../results/finding.js';
import type { Procedure } from '../../runner/benchmark.js';
import type { Session } from '../../session/session.js';
import { isNetworkFault } from '../../session/unused-nic.js';
import { attachmentsOfRanks } from './network.js';
import { type PairJob, PairMeter } from './pair-meter.js';
import { pairRow } from './pair-row.js';
import type { pairOptions } from './pairs.js';
import { retestSuspects } from './retest.js';
import { mostRetests } from './retest-plan.js';

type PairsProcedure = Procedure<typeof pairOptions> & { session: Session };
type ScanJob = PairJob & { readonly alone?: boolean };

const nicsOf = (links: Session['links']): string[] =>
  links.map(({ nic }, rail) => nic ?? String(rail));

const gapsOf = ({ unusedNics }: Session): Gap[] =>
  unusedNics
    .filter(isNetworkFault)
    .map(({ nic, host, peer }) => ({ nic, from: host, ...(peer !== undefined && { to: peer }) }));

/** The scan, a closer look where only some pairs were measured, then a retest of whoever stood out. */
export class PairScan {
  readonly #procedure: PairsProcedure;
  readonly #matrix: CellTable;
  readonly #railCells: CellTable;
  readonly #rails: number;
  #started = 0;

  constructor(procedure: PairsProcedure) {
    this.#procedure = procedure;
    const { fabric, links } = procedure.session;
    this.#rails = fabric.channels.length;
    const places = { hosts: procedure.world.hosts, nics: nicsOf(links) };
    this.#matrix = new CellTable(places, matrixMetrics);
    this.#railCells = new CellTable(places, railMetrics);
  }

  async run(): Promise<void> {
    const { world, session, settings, options, listener } = this.#procedure;
    const attached = await attachmentsOfRanks(world, options.network);
    const leaves = attached?.map(({ leaf }) => leaf);
    const rounds = scanRounds({ hosts: world.hosts, leaves }, options.scope);
    if (rounds.length === 0) throw nothingToMeasure(options.scope!);
    const places = this.#placesOf(
      leaves,
      attached?.map(({ spine }) => spine),
    );
    const meter = await PairMeter.open(session, settings, rounds[0]!);
    await this.#measure(meter, [...this.#jobsOf(rounds), ...this.#railJobs(rounds[0]!)]);
    const closer = await this.#lookCloser(meter, places, rounds);
    const paces = await world.gather('pace', meter.pace.take());
    const scan = paces && this.#resultOf(places, paces);
    const suspects = scan ? findSuspects(scan) : [];
    const tools = { world, meter, rails: this.#rails };
    const results = await retestSuspects(tools, suspects, scan?.matrix);
    if (!scan) return;
    const { scope, network } = options;
    const reached = coverageOf({ hosts: world.hosts, leaves }, [...rounds, ...closer], this.#rails);
    const summary: Scan = {
      ...(scope !== undefined && { scope }),
      ...(network !== undefined && { network }),
      closerRounds: closer.length,
      ...reached,
    };
    const diagnosis = diagnosisOf({ scan, suspects, results, gaps: gapsOf(session) });
    listener.diagnosed?.({ ...diagnosis, scan: summary });
  }

  #placesOf(leaves: readonly string[] | undefined, spines: readonly string[] | undefined): Places {
    const { world, session } = this.#procedure;
    const several = leaves && spines && new Set(leaves).size > 1;
    return { hosts: world.hosts, nics: nicsOf(session.links), ...(several && { leaves, spines }) };
  }

  #resultOf(places: Places, pace: readonly Pace[]): ScanResult {
    const matrix = { ...places, cells: this.#matrix.cells };
    return { matrix, railCells: this.#railCells.cells, pace };
  }

  #jobsOf(rounds: readonly RankPair[][]): ScanJob[] {
    const { perRail } = this.#procedure.options;
    const rails = perRail ? [...Array(this.#rails).keys()] : [undefined];
    return rounds.flatMap((round) => rails.flatMap((rail) => jobsOf(round, rail)));
  }

  /** Over all rails together a rail that is slow for everyone would not stand out. */
  #railJobs(pairs: readonly RankPair[]): ScanJob[] {
    if (this.#procedure.options.perRail || this.#rails < 2) return [];
    const rails = [...Array(this.#rails).keys()];
    return rails.map((rail) => ({ metric: 'bandwidth', pairs, rail, alone: true }));
  }

  async #measure(meter: PairMeter, jobs: readonly ScanJob[]): Promise<void> {
    const { listener, session } = this.#procedure;
    const total = this.#started + jobs.length;
    for (const job of jobs) {
      const column = pairColumns[job.metric];
      const index = this.#started++;
      listener.starting({ index, total, column, bytes: meter.bytesOf(job) });
      const measured = (await meter.measure(job)) ?? [];
      const rows = measured.map((one) => pairRow(one, session, job.alone));
      for (const row of rows) {
        this.#matrix.add(row);
        this.#railCells.add(row);
      }
      if (listener.rows) listener.rows(rows);
      else for (const row of rows) listener.row(row);
    }
  }

  /** More peers for hosts that stood out among some pairs; of all pairs there are no more. Rank 0 decides. */
  async #lookCloser(
    meter: PairMeter,
    places: Places,
    measured: readonly RankPair[][],
  ): Promise<readonly RankPair[][]> {
    const { world, options } = this.#procedure;
    const { scope } = options;
    if (scope === undefined) return [];
    const choose = () => {
      const suspects = findSuspects(this.#resultOf(places, [])).slice(0, mostRetests);
      const hosts = suspects.filter(({ kind }) => kind === 'place' || kind === 'pair');
      return closerRounds({
        ...places,
        ranks: [...new Set(hosts.flatMap(({ ranks }) => ranks))],
        measured: measured.flat(),
        inside: scope !== 'spine',
        // A few pairs do not load the network as the scan did: across, they are no measure where it is suspect.
        across: scope !== 'leaf' && !suspects.some(({ part }) => part),
      });
    };
    const rounds = await world.broadcast('closer look', world.rank === 0 ? choose() : []);
    await this.#measure(meter, this.#jobsOf(rounds));
    return rounds;
  }
}

const nothingToMeasure = (scope: string): WeftError => {
  const why = { leaf: 'no leaf has two hosts of this run', spine: 'all hosts are on one leaf' };
  return new WeftError(
    'BAD_USAGE',
    `\`scope\` ${scope} leaves nothing to measure: ${why[scope as 'leaf'] ?? 'there is one host'}`,
    { hint: 'Use `scope` all.' },
  );
};

const metrics = ['bandwidth', 'latency'] as const;

const jobsOf = (round: readonly RankPair[], rail: number | undefined): PairJob[] =>
  bothWays(round).flatMap((pairs) => metrics.map((metric) => ({ metric, pairs, rail })));
