import { strangerTo } from '../../analysis/normal/machine.js';
import type { Expected } from '../../analysis/normal/normal.js';
import { isWeftError } from '../../errors.js';
import type { Run } from '../../results/schema.js';
import type { FabricModel } from '../../simulate/fabric-model.js';
import { type Benchmark, isPlanned } from '../benchmark.js';
import { type Given, jobOf } from '../job.js';
import { recordedOptions } from '../recorded-options.js';
import { predictRun } from './predict-run.js';
import { whyNotModelled } from './run-model.js';

/**
 * What a model expects of exactly the rows of a measured run: the same ranks, hosts, NICs per rank, columns, sizes and
 * options. Where it cannot say, why.
 */
export function predictLike(
  run: Run,
  fabric: FabricModel,
  benchmarkById: (id: string) => Benchmark,
): Expected {
  const no = (because: string): Expected => ({ model: fabric.name, because });
  const why = strangerTo(run, fabric) ?? whyNotModelled(run);
  if (why !== undefined) return no(why);
  try {
    const benchmark = benchmarkById(run.benchmark);
    if (!isPlanned(benchmark)) return no(`it does not cover ${run.benchmark}`);
    if (benchmark.notModelled !== undefined) {
      return no(`it does not include ${benchmark.notModelled}`);
    }
    const nodes = run.world.hosts.length;
    const ranksPerNode = run.world.ranks / nodes;
    if (ranksPerNode > 1 && benchmark.clock === 'initiator') {
      return no(`it covers ${benchmark.id} with one rank per node only`);
    }
    const job = { ...jobOf(benchmark, givenBy(run, benchmark)), benchmark };
    const own = { ...fabric, nicsPerRank: run.fabric.channels.length };
    return { run: predictRun({ job, world: { fabric: own, nodes, ranksPerNode } }) };
  } catch (error) {
    if (!isWeftError(error)) throw error;
    return no(error.message);
  }
}

/** As recorded, with the columns that were measured. */
function givenBy(run: Run, benchmark: Benchmark): Given {
  const known = new Set(benchmark.columns.map(({ name }) => name));
  const passed = run.rows.filter((row) => row.outcome === 'passed' && known.has(row.column));
  return {
    ...recordedOptions(run, benchmark),
    columns: [...new Set(passed.map((row) => row.column))],
    against: undefined,
  };
}
