import { formatBytesRounded, plural, rangeText } from '../../measure/units.js';
import type { Row, Run } from '../schema.js';
import { blame } from './blame.js';
import { gpuInitiated, sizeOf } from './gpu-notes.js';

/** Marks beside a number that a note explains. */
export const noisyMark = '~';
export const burstMark = '*';

/** A detail is what a chart shows better, where there is one. */
export type NoteKind = 'bad' | 'doubt' | 'plain' | 'detail';

export interface Note {
  readonly kind: NoteKind;
  readonly text: string;
}

export function markOf(row: Row): string {
  if (row.labels.burst) return burstMark;
  return row.noisy ? noisyMark : '';
}

/** `write · tcp (libfabric 1.17.0) · 4 ranks on 1 host · 4 channels of 100 Gbps` */
export function describeRun(run: Run, separator = ' · '): string {
  const { fabric, world, benchmark } = run;
  const ranks = `${plural(world.ranks, 'rank')} on ${plural(world.hosts.length, 'host')}`;
  if (fabric.provider === null) return [benchmark, ranks].join(separator);
  const library = fabric.version === null ? '' : ` (libfabric ${fabric.version})`;
  const rates = [...new Set(fabric.channels.map((channel) => channel.lineRateGbps))];
  const rate = rates.length === 1 && rates[0] != null ? ` of ${rates[0]} Gbps` : '';
  return [
    benchmark,
    `${fabric.provider}${library}`,
    ranks,
    `${plural(fabric.channels.length, 'channel')}${rate}`,
  ].join(separator);
}

/** What must be said below a table: what failed, what is in doubt, what was left out, what was verified. */
export function notesOf(run: Run): Note[] {
  return [
    ...failures(run),
    ...blame(run),
    ...marks(run),
    ...deviceColumns(run),
    ...unlocked(run),
    ...smallWindow(run),
    ...leftOutNics(run),
    ...skipped(run),
    ...ofBound(run),
    ...gpuInitiated(run),
    verified(run),
    ...ending(run),
  ];
}

function failures(run: Run): Note[] {
  return run.rows
    .filter((row) => row.outcome === 'failed' || row.outcome === 'aborted')
    .map((row) => ({
      kind: 'bad',
      text: `${row.outcome.toUpperCase()} ${row.column}${sizeOf(row)}: ${row.reason ?? 'no reason given'}`,
    }));
}

function marks(run: Run): Note[] {
  const notes: Note[] = [];
  // Matrices have shades instead of marks.
  const used = new Set(run.rows.filter(({ kind }) => kind !== 'pair').map(markOf));
  if (used.has(noisyMark)) {
    notes.push({
      kind: 'doubt',
      text: `${noisyMark} noisy: the samples of this row spread widely`,
    });
  }
  if (used.has(burstMark)) {
    const text = `${burstMark} burst: too small for the shaper to show; not held against the line rate`;
    notes.push({ kind: 'plain', text });
  }
  return notes;
}

/** DMA columns, by the way their bytes went. */
function deviceColumns(run: Run): Note[] {
  const byWay = new Map<string, Set<string>>();
  for (const { labels, column } of run.rows) {
    const way = wayOf(labels);
    if (way !== undefined) byWay.set(way, (byWay.get(way) ?? new Set()).add(column));
  }
  return [...byWay].map(([way, columns]) => ({
    kind: 'plain',
    text: `${way}: ${[...columns].join(', ')}`,
  }));
}

function wayOf({ memory, stagedBecause }: Row['labels']): string | undefined {
  if (memory === 'direct') return 'direct from GPU memory to GPU memory';
  if (memory !== 'staged') return undefined;
  const why = stagedBecause === undefined ? '' : ` because ${stagedBecause}`;
  return `staged through pinned memory${why}`;
}

function unlocked(run: Run): Note[] {
  const pins = run.rows.filter((row) => row.column.endsWith('Pin') && row.labels.memory === 'host');
  if (pins.length === 0) return [];
  const text = 'not page-locked: the limit on locked memory is too low, ordinary memory was used';
  return [{ kind: 'doubt', text }];
}

function smallWindow({ settings }: Run): Note[] {
  if (settings.windowReduced !== true) return [];
  const text = `window reduced to ${settings.window}: the provider’s queues hold no more`;
  return [{ kind: 'plain', text }];
}

function leftOutNics({ settings }: Run): Note[] {
  const { nicsLeftOut, nicsNotByGpu } = settings;
  if (nicsNotByGpu !== undefined) {
    return [{ kind: 'doubt', text: `NICs not chosen by GPU, every one is used: ${nicsNotByGpu}` }];
  }
  if (!Array.isArray(nicsLeftOut)) return [];
  return nicsLeftOut.map((text) => ({ kind: 'doubt', text: `NIC left out: ${text}` }));
}

/** One note per reason; sizes are named where only some of a column were skipped. */
function skipped(run: Run): Note[] {
  const byReason = new Map<string, string[]>();
  const tried = new Set(run.rows.filter((r) => r.outcome !== 'skipped').map((r) => r.column));
  for (const row of run.rows) {
    if (row.outcome !== 'skipped') continue;
    const what = tried.has(row.column) ? `${row.column}${sizeOf(row)}` : row.column;
    const reason = row.reason ?? 'no reason given';
    const list = byReason.get(reason) ?? [];
    if (!list.includes(what)) list.push(what);
    byReason.set(reason, list);
  }
  return [...byReason].map(([reason, list]) => ({
    kind: 'plain',
    text: `skipped ${list.join(', ')}: ${reason}`,
  }));
}

function ofBound(run: Run): Note[] {
  const ranges = new Map<string, number[]>();
  for (const { column, ofBoundPercent, outcome } of run.rows) {
    if (outcome !== 'passed' || ofBoundPercent === null) continue;
    ranges.set(column, [...(ranges.get(column) ?? []), ofBoundPercent]);
  }
  if (ranges.size === 0) return [];
  const texts = [...ranges].map(([column, percents]) => {
    return `${column} ${rangeText(percents, 1)} %`;
  });
  return [{ kind: 'plain', text: `of what the plan could reach: ${texts.join(', ')}` }];
}

function verified(run: Run): Note {
  const sum = (key: 'bytes' | 'wrong') =>
    run.rows.reduce((total, row) => total + row.checked[key], 0);
  const [bytes, wrong] = [sum('bytes'), sum('wrong')];
  if (bytes === 0) return { kind: 'doubt', text: 'not verified: no bytes were checked' };
  const counted = wrong === 0 ? 'none wrong' : `${wrong} WRONG`;
  const unchecked = run.rows.filter((r) => r.nanoseconds !== null && r.checked.bytes === 0).length;
  const rest = unchecked === 0 ? '' : `; ${plural(unchecked, 'row')} not checked`;
  return {
    kind: wrong === 0 ? 'plain' : 'bad',
    text: `verified: ${formatBytesRounded(bytes)} bytes checked, ${counted}${rest}`,
  };
}

function ending(run: Run): Note[] {
  // Wrong data has been told with its row.
  const others = run.errors.filter(({ code }) => code !== 'DATA_WRONG');
  const errors = others.map(({ message, hint }): Note => {
    return { kind: 'bad', text: `error: ${message}${hint === undefined ? '' : ` (${hint})`}` };
  });
  if (run.outcome !== 'aborted') return errors;
  return [...errors, { kind: 'bad', text: 'aborted: these are partial results' }];
}
