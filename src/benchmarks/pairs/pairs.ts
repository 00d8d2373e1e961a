import { matrixOf, railCellsOf } from '../../analysis/diagnosis/cells.js';
import { diagnosisOf } from '../../analysis/diagnosis/diagnosis.js';
import type { Gap } from '../../analysis/diagnosis/gaps.js';
import { findSuspects, type ScanResult } from '../../analysis/diagnosis/suspects.js';
import { type RankPair, roundsOf } from '../../plan/rounds.js';
import { pairColumns } from '../../results/column-name.js';
import type { Pace } from '../../results/finding.js';
import type { Row } from '../../results/schema.js';
import { defineBenchmark, type Procedure } from '../../runner/benchmark.js';
import type { Session } from '../../session/session.js';
import { isNetworkFault } from '../../session/unused-nic.js';
import { onOff } from '../../settings/option.js';
import { type PairJob, PairMeter } from './pair-meter.js';
import { pairRow } from './pair-row.js';
import { retestSuspects } from './retest.js';

const options = { perRail: onOff('--per-rail', 'measure each channel separately') };

export const pairs = defineBenchmark({
  id: 'pairs',
  summary: 'Measure every pair of ranks and name the slow host, NIC, rail or pair.',
  ranks: { min: 2 },
  columns: [{ name: pairColumns.bandwidth }, { name: pairColumns.latency }],
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 4 * 2 ** 20, factor: 2 },
  options,
  // One diagnosis of one size between the smallest and the largest, bandwidth and latency both.
  without: ['columns', 'stepFactor', 'stepBytes', 'warmup', 'repeats'],
  fabric: true,
  reportsGaps: true,
  run: (procedure) => new PairScan(procedure).run(),
});

type PairsProcedure = Procedure<typeof options> & { session: Session };

const gapsOf = ({ unusedNics }: Session): Gap[] =>
  unusedNics
    .filter(isNetworkFault)
    .map(({ nic, host, peer }) => ({ nic, from: host, ...(peer !== undefined && { to: peer }) }));

/** The scan, then a second look at whoever stood out. */
class PairScan {
  readonly #procedure: PairsProcedure;
  readonly #rows: Row[] = [];
  readonly #rounds: readonly RankPair[][];
  readonly #rails: number;

  constructor(procedure: PairsProcedure) {
    this.#procedure = procedure;
    this.#rounds = roundsOf(procedure.world.hosts);
    this.#rails = procedure.session.fabric.channels.length;
  }

  async run(): Promise<void> {
    const { world, session, settings, listener } = this.#procedure;
    const meter = await PairMeter.open(session, settings, this.#rounds[0]!);
    await this.#scan(meter);
    const paces = await world.gather('pace', meter.pace.take());
    const scan = paces && this.#scanResult(paces);
    const suspects = scan ? findSuspects(scan) : [];
    const tools = { world, meter, rails: this.#rails };
    const results = await retestSuspects(tools, suspects, scan?.matrix);
    if (!scan) return;
    listener.diagnosed?.(diagnosisOf({ scan, suspects, results, gaps: gapsOf(session) }));
  }

  #scanResult(pace: readonly Pace[]): ScanResult {
    const { world, session } = this.#procedure;
    const nics = session.links.map(({ nic }, rail) => nic ?? String(rail));
    const places = { hosts: world.hosts, nics };
    const railCells = railCellsOf(places, this.#rows);
    return { matrix: matrixOf(places, this.#rows), railCells, pace };
  }

  async #scan(meter: PairMeter): Promise<void> {
    const { options, listener } = this.#procedure;
    const { perRail } = options;
    const all = Array.from({ length: this.#rails }, (_, rail) => rail);
    const jobs: (PairJob & { alone?: boolean })[] = this.#rounds.flatMap((round) =>
      (perRail ? all : [undefined]).flatMap((rail) => bothWays(round, rail)),
    );
    // Over all rails together a rail that is slow for everyone would not stand out.
    if (!perRail && this.#rails > 1) {
      const [first] = this.#rounds;
      for (const rail of all) {
        jobs.push({ metric: 'bandwidth', pairs: first!, rail, alone: true });
      }
    }
    for (const [index, job] of jobs.entries()) {
      const column = pairColumns[job.metric];
      listener.starting({ index, total: jobs.length, column, bytes: meter.bytesOf(job) });
      const measured = await meter.measure(job);
      for (const one of measured ?? []) {
        const row = pairRow(one, this.#procedure.session, job.alone);
        this.#rows.push(row);
        listener.row(row);
      }
    }
  }
}

/** One direction at a time, so that a fault of one direction is seen. */
function bothWays(round: readonly RankPair[], rail: number | undefined): PairJob[] {
  const turned = round.map(([a, b]): RankPair => [b, a]);
  const metrics = ['bandwidth', 'latency'] as const;
  return [round, turned].flatMap((some) =>
    metrics.map((metric) => ({ metric, pairs: some, rail })),
  );
}
