import { median } from '../../measure/quantile.js';
import { plural } from '../../measure/units.js';
import type { Finding } from '../../results/finding.js';
import { nameOfRow } from '../../results/row-name.js';
import type { Row, Run } from '../../results/schema.js';
import { nameOf } from '../diagnosis/finding-name.js';
import {
  type Change,
  type Found,
  gainOver,
  noisyRows,
  type OpenQuestion,
  type SteadyRow,
  steadyRows,
  worthwhile,
} from './change.js';
import { gainOf } from './measured.js';

/** A rank that takes this many times as long as the median of the others holds them up. */
const slowRank = 1.1;

/** What a run shows of links, ranks and memory, which decides more than settings do. */
export const conditionsOf = (run: Run): Found => ({
  changes: [
    ...(run.diagnosis?.findings ?? []).map((finding) => repair(run, finding)),
    ...slowestRank(run),
    ...stagedMemory(run),
  ],
  open: [...paths(run), ...leftOut(run), ...pinning(run), ...noise(run)],
});

/** What a diagnosis blames. `effect` is the share of the healthy rate that is left. */
function repair(run: Run, finding: Finding): Change {
  const { symptom, effect, evidence, next } = finding;
  const factor = symptom === 'late' ? effect : 1 / effect;
  const isKnown = (symptom === 'slow' || symptom === 'late') && effect > 0 && factor > 1;
  return {
    run,
    what: 'network',
    from: `${nameOf(finding)} ${symptom}`,
    to: 'repaired',
    bytes: steadySizes(run),
    gain: isKnown ? { factor, interval: [1, factor] } : undefined,
    known: 'measured',
    reason: `${evidence} ${next} The gain is that of transfers through it.`,
  };
}

const steadySizes = (run: Run): number[] => [...new Set(steadyRows(run).map(({ bytes }) => bytes))];

/** One rank that is later than the others, although it has no more to move. */
function slowestRank(run: Run): Change[] {
  const late = steadyRows(run).flatMap((row) => {
    const found = lateRank(row);
    return found ? [{ row, ...found }] : [];
  });
  const [first] = late;
  if (first === undefined || late.some(({ rank }) => rank !== first.rank)) return [];
  const { rank, host } = first;
  const where = host === undefined ? `rank ${rank}` : `rank ${rank} on ${host}`;
  return [
    {
      run,
      what: 'placement',
      from: `${where} slow`,
      to: `${where} as fast as the others`,
      bytes: [...new Set(late.map(({ row }) => row.bytes))],
      gain: gainOver(late.map(({ factor }) => ({ factor, interval: [1, factor] }))),
      known: 'measured',
      reason: `In every row with times by rank it ends last, and it has no more to move than the others. Look at its CPU cores and NICs with weft info on that host, and at its links with weft pairs.`,
    },
  ];
}

function lateRank({
  perRank = [],
}: Row): { rank: number; host?: string; factor: number } | undefined {
  const timed = perRank.filter(({ nanoseconds, load = 1 }) => nanoseconds !== null && load > 0.95);
  if (timed.length < 3) return undefined;
  const sorted = [...timed].sort((a, b) => b.nanoseconds!.p50 - a.nanoseconds!.p50);
  const [slowest, ...others] = sorted;
  const factor = slowest!.nanoseconds!.p50 / median(others.map((one) => one.nanoseconds!.p50));
  const { rank, host } = slowest!;
  return factor < slowRank ? undefined : { rank, factor, ...(host !== undefined && { host }) };
}

/** GPU memory that went through host memory, where the run also has that memory alone. */
function stagedMemory(run: Run): Change[] {
  const rows = steadyRows(run);
  const pairs = rows.flatMap((row) => {
    if (row.labels.memory !== 'staged') return [];
    const name = row.column.replace('DMA', 'Pin');
    const pin = rows.find((one) => one.column === name && one.bytes === row.bytes);
    const gain = pin && gainOf(row, pin);
    return gain && gain.factor >= worthwhile ? [{ row, gain }] : [];
  });
  const [first] = pairs;
  if (first === undefined) return [];
  const why = first.row.labels.stagedBecause ?? 'the provider cannot register GPU memory';
  return [
    {
      run,
      what: 'memory',
      from: 'GPU memory staged through host memory',
      to: 'GPU memory used directly',
      bytes: [...new Set(pairs.map(({ row }) => row.bytes))],
      gain: { ...gainOver(pairs.map(({ gain }) => gain)) },
      known: 'measured',
      reason: `Staged because ${why}. The same transfers from host memory are this much faster in this run; direct access avoids the copies.`,
    },
  ];
}

function paths(run: Run): OpenQuestion[] {
  const astray = run.rows.filter(({ path }) => path?.asPlanned === false);
  const [first] = astray;
  if (first === undefined) return [];
  const text = first.path?.text ?? 'the bytes did not use the planned NICs';
  const reason = `In ${plural(astray.length, 'row')}, first ${nameOfRow(first)}: ${text}. Repair this first: no figure of such a row says what the NICs can do.`;
  return [{ what: 'network', reason, run }];
}

function leftOut(run: Run): OpenQuestion[] {
  const texts = [run.settings.nicsLeftOut, run.settings.warnings].flatMap((list) =>
    Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [],
  );
  return texts.map((text) => ({ what: 'channels', reason: `The run says: ${text}.`, run }));
}

function pinning(run: Run): OpenQuestion[] {
  if (run.settings.pin !== 'none' || run.world.ranks < 2) return [];
  const reason = 'Ranks were not pinned to CPU cores (--pin none). No model covers that.';
  const measure = { benchmark: run.benchmark, options: { pin: 'auto' } };
  return [{ what: 'placement', reason, run, measure }];
}

function noise(run: Run): OpenQuestion[] {
  const noisy: SteadyRow[] = noisyRows(run);
  if (noisy.length === 0) return [];
  const names = noisy.slice(0, 3).map(nameOfRow).join(', ');
  const more = noisy.length > 3 ? ` and ${noisy.length - 3} more` : '';
  const reason = `${plural(noisy.length, 'row')} too noisy to judge (${names}${more}).`;
  const measure = { benchmark: run.benchmark, options: { budgetMs: 2000 } };
  return [{ what: 'noise', reason, run, measure }];
}
