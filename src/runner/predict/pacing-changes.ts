import {
  type Change,
  type Gain,
  gainOver,
  type OpenQuestion,
  type SteadyRow,
  settingText,
  worthwhile,
} from '../../analysis/advice/change.js';
import { formatBytes, formatNanoseconds, nanosecondsAt, plural } from '../../measure/units.js';
import type { FabricModel } from '../../simulate/fabric-model.js';
import { type Base, changeTo, type Subject } from './changed-rows.js';
import { nicsOf } from './run-model.js';

const chunkSizes = [64, 256, 1024, 4096, 16_384].map((kib) => kib * 1024);

/** Better than the bound is not possible. */
const roomOf = ({ ofBoundPercent }: SteadyRow): number =>
  ofBoundPercent === null ? Number.POSITIVE_INFINITY : Math.max(1, 100 / ofBoundPercent);

export function otherChunks(subject: Subject, base: Base): Change[] {
  const { run, model } = subject;
  const current = run.settings.chunkBytes;
  if (typeof current !== 'number' || !knowsChunks(model)) return [];
  const tried = chunkSizes
    .filter((chunkBytes) => chunkBytes !== current)
    .flatMap((chunkBytes) => {
      const found = changeTo(subject, base, { chunkBytes }, roomOf);
      return found ? [{ chunkBytes, ...found }] : [];
    })
    .sort((a, b) => b.gain.factor - a.gain.factor);
  const [best] = tried;
  if (best === undefined) return [];
  const { chunkBytes, ...found } = best;
  const cost = formatNanoseconds(model.parameters.chunkMicroseconds * 1000);
  return [
    {
      run,
      what: 'chunk',
      from: settingText('chunk', current),
      to: settingText('chunk', chunkBytes),
      ...found,
      known: 'predicted',
      reason: `Posting a chunk takes ${cost} of CPU time in the model (${model.name}), and chunks are posted one after the other.`,
      options: {
        from: { chunkBytes: current },
        to: { chunkBytes },
        shared: { columns: [base.column] },
      },
    },
  ];
}

const knowsChunks = ({ fit, parameters }: FabricModel): boolean =>
  parameters.chunkMicroseconds > 0 && (fit === undefined || 'chunkMicroseconds' in fit.intervals);

export function chunkUnknown({ run, model }: Subject): OpenQuestion[] {
  if (knowsChunks(model) || run.settings.chunkBytes == null) return [];
  const reason = `The model (${model.name}) does not include the cost of a chunk. To add it, fit the model to sendrecv rows of several MiB.`;
  const options = { minBytes: 2 ** 20, maxBytes: 2 ** 24 };
  return [{ what: 'chunk', reason, run, measure: { benchmark: 'sendrecv', options } }];
}

/**
 * A chunk is complete `writeMicroseconds` after it has left the NIC, and the next one follows only then where the window
 * is full: a NIC is idle where the window is sent before its first chunk is complete.
 */
export function largerWindow({ run, model }: Subject, { column, rows }: Base): Change[] {
  const { window, chunkBytes } = run.settings;
  if (typeof window !== 'number' || typeof chunkBytes !== 'number') return [];
  const { nicGbps, writeMicroseconds } = model.parameters;
  const chunkTime = nanosecondsAt(chunkBytes, nicGbps);
  const needed = 1 + (writeMicroseconds * 1000) / chunkTime;
  const long = rows.filter(({ row }) => row.bytes / nicsOf(run) > window * chunkBytes);
  if (needed <= window * worthwhile || long.length === 0) return [];
  const gains = long.map(({ row }): Gain => {
    const factor = Math.min(needed / window, roomOf(row));
    return { factor, interval: [1, Math.max(factor, Math.min(needed / window, roomOf(row)))] };
  });
  const gain = gainOver(gains);
  if (gain.factor < worthwhile) return [];
  const to = 2 ** Math.ceil(Math.log2(needed));
  return [
    {
      run,
      what: 'window',
      from: String(window),
      to: String(to),
      bytes: long.map(({ row }) => row.bytes),
      gain,
      known: 'predicted',
      reason: `A window of ${plural(window, 'chunk')} of ${formatBytes(chunkBytes)} is sent in ${formatNanoseconds(window * chunkTime)}, but a chunk of ${column} is complete only after ${formatNanoseconds(chunkTime + writeMicroseconds * 1000)}: the NIC is idle in between.`,
      options: { from: { window }, to: { window: to }, shared: { columns: [column] } },
    },
  ];
}
