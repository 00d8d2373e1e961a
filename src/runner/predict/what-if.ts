import {
  type Change,
  type Found,
  type SteadyRow,
  steadyRows,
} from '../../analysis/advice/change.js';
import { type Family, familiesOf, familyOf } from '../../analysis/advice/measured.js';
import { isWeftError, messageOf } from '../../errors.js';
import { mean } from '../../measure/summary.js';
import { plural } from '../../measure/units.js';
import { valuesOf } from '../../results/host-facts.js';
import type { Run } from '../../results/schema.js';
import { type Base, changeTo, predict, type Subject } from './changed-rows.js';
import { chunkUnknown, largerWindow, otherChunks } from './pacing-changes.js';
import { modelledWorld, nicsOf } from './run-model.js';

/** A model that is further off than this does not describe a row. */
const farOff = Math.log(1.2);
/** Of many sizes, so many are simulated. */
const mostSizes = 4;
/** From this share of the bound up, no setting is worth a change. */
const nearBound = 97;

/** What a model says of settings that a run did not measure. */
export function whatIf(subject: Subject, asked: string | undefined): Found {
  const { run, benchmark, model } = subject;
  const refused = (reason: string): Found => ({
    changes: [],
    open: [{ what: 'model', reason, run }],
  });
  if (modelledWorld(run) === undefined) {
    return refused('Ranks of a host share NICs, which the model does not include.');
  }
  if (nicsOf(run) !== run.fabric.channels.length) {
    return refused('Several channels share a NIC, which the model does not include.');
  }
  try {
    const found = familiesOf(run, asked).map((family) => inFamily(subject, family));
    return { changes: found.flatMap((one) => one.changes), open: found.flatMap((one) => one.open) };
  } catch (error) {
    if (!isWeftError(error)) throw error;
    return refused(`The model ${model.name} cannot predict ${benchmark.id}: ${messageOf(error)}.`);
  }
}

function inFamily(subject: Subject, family: Family): Found {
  const { run, model } = subject;
  const column = fastest(run, family);
  const measured = spreadOut(steadyRows(run).filter((row) => row.column === column));
  const all = measured.flatMap((row) => {
    const predicted = predict(subject, column, row.bytes);
    return predicted ? [{ row, predicted, log: Math.log(row.gbps / predicted.gbps) }] : [];
  });
  const rows = all.filter(({ log }) => Math.abs(log) <= farOff);
  if (rows.length === 0) {
    if (all.length === 0) return { changes: [], open: [] };
    const off = Math.round(Math.expm1(Math.max(...all.map(({ log }) => Math.abs(log)))) * 100);
    const reason = `The model (${model.name}) misses the measured rows of ${column} by up to ${off} %, so it predicts nothing for them.`;
    return { changes: [], open: [{ what: 'model', reason, run }] };
  }
  const base = { column, rows };
  const room = Math.min(...rows.map(({ row }) => row.ofBoundPercent ?? 0)) < nearBound;
  const settings = room ? [...otherChunks(subject, base), ...largerWindow(subject, base)] : [];
  return {
    changes: [
      ...otherStrategies(subject, base, family),
      ...moreChannels(subject, base, family),
      ...settings,
    ],
    open: room ? chunkUnknown(subject) : [],
  };
}

const fastest = (run: Run, { columns }: Family): string => {
  const rateOf = (column: string) =>
    mean(steadyRows(run).flatMap((row) => (row.column === column ? [Math.log(row.gbps)] : [])));
  return columns.reduce((a, b) => (rateOf(b) > rateOf(a) ? b : a));
};

/** A few of the sizes, the largest and the smallest among them. */
function spreadOut(rows: readonly SteadyRow[]): SteadyRow[] {
  const sorted = [...new Map(rows.map((row) => [row.bytes, row])).values()].sort(
    (a, b) => a.bytes - b.bytes,
  );
  if (sorted.length <= mostSizes) return sorted;
  const step = (sorted.length - 1) / (mostSizes - 1);
  return Array.from({ length: mostSizes }, (_, i) => sorted[Math.round(i * step)]!);
}

function otherStrategies(subject: Subject, base: Base, family: Family): Change[] {
  const { run, benchmark, model } = subject;
  const skipped = run.rows
    .filter(({ outcome }) => outcome === 'skipped')
    .map(({ column }) => column);
  const others = benchmark.columns.filter(
    ({ name }) =>
      familyOf(name) === familyOf(base.column) &&
      !family.columns.includes(name) &&
      !skipped.includes(name),
  );
  const found = others
    .flatMap(({ name, strategy }) => {
      const change = changeTo(subject, base, { columns: [name] });
      return change ? [{ name, strategy, ...change }] : [];
    })
    .sort((a, b) => b.gain.factor - a.gain.factor);
  // The second best is of use only at sizes where the best is none.
  const [best, ...rest] = found;
  const useful = rest.filter(({ bytes }) => bytes.some((one) => !best!.bytes.includes(one)));
  return [...(best ? [best] : []), ...useful].map(({ name, strategy, bytes, gain }) => ({
    ...{ run, what: 'strategy', from: base.column, to: name, bytes, gain, known: 'predicted' },
    reason: `The run did not measure ${name} (${strategy.summary}). The model (${model.name}) predicts both.`,
    options: { from: { columns: [base.column] }, to: { columns: [name] } },
  }));
}

/** NICs that the hosts have and the run did not use, with the measured column that makes the most of them. */
function moreChannels(subject: Subject, base: Base, { columns }: Family): Change[] {
  const { run, model } = subject;
  const used = nicsOf(run);
  const there = nicsOnEveryHost(run);
  if (there <= used) return [];
  const [best] = columns
    .flatMap((column) => {
      const found = changeTo(subject, base, { channels: there, columns: [column] });
      return found ? [{ column, ...found }] : [];
    })
    .sort((a, b) => b.gain.factor - a.gain.factor);
  if (best === undefined) return [];
  const { column, ...found } = best;
  return [
    {
      run,
      what: 'channels',
      from: `${used} (${base.column})`,
      to: `${there} (${column})`,
      ...found,
      known: 'predicted',
      reason: `The run used ${used} of ${plural(there, 'NIC')} of every host. The model (${model.name}) assumes that the others are as fast.`,
      options: {
        from: { channels: used, nics: run.settings.nics, columns: [base.column] },
        to: { channels: there, nics: undefined, columns: [column] },
      },
    },
  ];
}

/** The fewest Ethernet or RDMA devices of a host, as the run recorded them: `4 Ethernet`. */
function nicsOnEveryHost({ world, fabric }: Run): number {
  const fact = world.facts?.nics;
  if (fact === undefined || fabric.provider === 'shm') return 0;
  const counts = valuesOf(fact, world.hosts).map(({ value }) => /^(\d+) [^,]+$/.exec(value)?.[1]);
  return counts.includes(undefined) ? 0 : Math.min(...counts.map(Number));
}
