import { groupBy } from '../../measure/group.js';
import { formatBytesRounded, plural, rangeText } from '../../measure/units.js';
import { traitsOf } from '../column-name.js';
import { fabricName } from '../fabric-name.js';
import { fewerSamples } from '../kept-samples.js';
import type { Note, NoteKind } from '../note.js';
import type { Path } from '../path.js';
import { isInMatrix, notesOfKinds } from '../row-kinds.js';
import { nameOfRow, sizedName } from '../row-name.js';
import type { Row, Run } from '../schema.js';
import { outlierNotes, scanNotes, unconfirmedNotes } from './findings.js';
import { predictionNotes } from './prediction-notes.js';

/** Marks beside a number that a note explains. */
export const noisyMark = '~';
const burstMark = '*';
const pathMark = '!';

export function markOf(row: Row): string {
  if (row.path?.asPlanned === false) return pathMark;
  if (row.labels.burst) return burstMark;
  return row.noisy ? noisyMark : '';
}

/** `write · tcp (libfabric 1.17.0) · 4 ranks on 1 host · 4 channels of 100 Gbps` */
export function describeRun(run: Run, separator = ' · '): string {
  const { fabric, world, benchmark, model } = run;
  const ranks = `${plural(world.ranks, 'rank')} on ${plural(world.hosts.length, 'host')}`;
  const name = fabricName(fabric);
  if (name === null) return [benchmark, ranks].join(separator);
  const library = fabric.version === null ? '' : ` (libfabric ${fabric.version})`;
  const rates = [...new Set(fabric.channels.map((channel) => channel.lineRateGbps))];
  const rate = rates.length === 1 && rates[0] != null ? ` of ${rates[0]} Gbps` : '';
  return [
    ...(model ? ['PREDICTED, not measured'] : []),
    benchmark,
    `${name}${library}`,
    ranks,
    `${plural(fabric.channels.length, 'channel')}${rate}`,
  ].join(separator);
}

const order: readonly NoteKind[] = ['bad', 'doubt', 'plain', 'detail'];

/** What must be said below a table, the most important first: what failed, what is in doubt, what else there is. */
export function notesOf(run: Run): Note[] {
  if (run.model) return predictionNotes(run.model, run.rows);
  const notes = [
    ...ending(run),
    ...notHardware(run),
    ...notRdma(run),
    ...failures(run),
    ...elsewhere(run),
    verified(run),
    ...scanNotes(run),
    ...outlierNotes(run),
    ...marks(run),
    ...unlocked(run),
    ...otherNics(run),
    ...ofBound(run),
    ...skipped(run),
    ...unconfirmedNotes(run),
    ...deviceColumns(run),
    ...smallWindow(run),
    ...repeatedPackets(run),
    ...fewerSamples(run),
    ...notesOfKinds(run),
  ];
  return order.flatMap((kind) => notes.filter((note) => note.kind === kind));
}

const mostNotes = 3;

/** All notes where they are asked for; otherwise the few that decide something, and how to see the rest. */
export function shownNotes(run: Run, verbose = false): Note[] {
  const notes = notesOf(run);
  if (verbose || notes.length <= mostNotes) return notes;
  const rest = plural(notes.length - mostNotes, 'more note');
  return [...notes.slice(0, mostNotes), { kind: 'detail', text: `(--verbose shows ${rest})` }];
}

function notHardware({ fabric }: Run): Note[] {
  if (!fabric.emulated) return [];
  const text = 'emulated devices: these figures say nothing about the speed of hardware';
  return [{ kind: 'doubt', text }];
}

function notRdma({ fabric }: Run): Note[] {
  if (!fabric.emulatedWrites) return [];
  const text = 'emulated writes: the provider sends messages in place of RDMA writes';
  return [{ kind: 'plain', text }];
}

function failures(run: Run): Note[] {
  const bad = run.rows.filter((row) => row.outcome === 'failed' || row.outcome === 'aborted');
  const reasons = groupBy(bad, (row) => `: ${row.reason ?? 'no reason given'}`);
  return [...reasons].map(([reason, rows]) => {
    const names = [...new Set(rows.map(sizedName))].join(', ');
    return { kind: 'bad', text: `${rows[0]!.outcome.toUpperCase()} ${names}${reason}` };
  });
}

/** Rows whose bytes did not go over the planned NICs; of the row that lacks most, what was seen. */
function elsewhere({ rows }: Run): Note[] {
  const astray = rows.filter((row) => row.path?.asPlanned === false);
  const [first] = astray;
  if (first === undefined) return [];
  const rest = astray.length === 1 ? '' : ` (and ${plural(astray.length - 1, 'more row')})`;
  const mark = isInMatrix(first) ? '' : `${pathMark} `;
  return [{ kind: 'bad', text: `${mark}${nameOfRow(first)}${rest}: ${first.path!.text}` }];
}

/** What the NICs had to send again or dropped. */
function repeatedPackets({ rows }: Run): Note[] {
  const sum = (of: (path: Path) => number) =>
    rows.reduce((total, { path }) => total + (path ? of(path) : 0), 0);
  const perNic = (key: 'retransmits' | 'drops') =>
    sum(({ nics }) => nics.reduce((total, nic) => total + (nic[key] ?? 0), 0));
  const parts = [
    ['TCP segments retransmitted', sum(({ tcpRetransmits = 0 }) => tcpRetransmits)],
    ['packets retransmitted by RDMA devices', perNic('retransmits')],
    ['packets dropped by NICs', perNic('drops')],
  ] as const;
  const seen = parts.filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`);
  if (seen.length === 0) return [];
  return [{ kind: 'plain', text: `during the timed loops: ${seen.join(', ')}` }];
}

function marks(run: Run): Note[] {
  // Matrices have shades instead of marks.
  const used = new Set(run.rows.filter((row) => !isInMatrix(row)).map(markOf));
  const noisy: Note = {
    kind: 'doubt',
    about: 'noise',
    text: `${noisyMark} noisy: the samples of this row vary widely`,
  };
  const burst: Note = {
    kind: 'plain',
    text: `${burstMark} burst: too little data for the rate limit to take effect; not compared with the line rate`,
  };
  return [...(used.has(noisyMark) ? [noisy] : []), ...(used.has(burstMark) ? [burst] : [])];
}

function deviceColumns(run: Run): Note[] {
  const byWay = groupBy(run.rows, ({ labels }) => wayOf(labels));
  return [...byWay].flatMap(([way, rows]): Note[] => {
    const columns = new Set(rows.map((row) => row.column));
    return way === undefined ? [] : [{ kind: 'plain', text: `${way}: ${[...columns].join(', ')}` }];
  });
}

function wayOf({ memory, stagedBecause }: Row['labels']): string | undefined {
  if (memory === 'direct') return 'direct from GPU memory to GPU memory';
  if (memory !== 'staged') return undefined;
  const why = stagedBecause === undefined ? '' : ` because ${stagedBecause}`;
  return `staged through pinned memory${why}`;
}

function unlocked(run: Run): Note[] {
  const isUnlocked = ({ column, labels }: Row) =>
    labels.memory === 'host' && traitsOf(column).memory === 'pinned';
  const text =
    'not page-locked: the limit on locked memory is too low, so Pin columns use ordinary memory';
  return run.rows.some(isUnlocked) ? [{ kind: 'doubt', text }] : [];
}

function smallWindow({ settings }: Run): Note[] {
  if (settings.windowReduced !== true) return [];
  const text = `window reduced to ${settings.window}, the most that the provider’s queues hold`;
  return [{ kind: 'plain', text }];
}

function otherNics({ settings }: Run): Note[] {
  const { nicsLeftOut, nicsNotMixed, nicsNotByGpu } = settings;
  const notes = (texts: unknown, kind: NoteKind) =>
    Array.isArray(texts) ? texts.map((text) => ({ kind, text: `NIC not used: ${text}` })) : [];
  const all = `all NICs used, not those nearest each GPU: ${nicsNotByGpu}`;
  return [
    ...(nicsNotByGpu === undefined
      ? notes(nicsLeftOut, 'doubt')
      : [{ kind: 'doubt' as const, text: all }]),
    ...notes(nicsNotMixed, 'plain'),
  ];
}

/** One note per reason; sizes are named where only some of a column were skipped. */
function skipped(run: Run): Note[] {
  const tried = new Set(run.rows.filter((r) => r.outcome !== 'skipped').map((r) => r.column));
  const left = run.rows.filter((row) => row.outcome === 'skipped');
  const reasons = groupBy(left, (row) => row.reason ?? 'no reason given');
  return [...reasons].map(([reason, rows]) => {
    const names = rows.map((row) => (tried.has(row.column) ? sizedName(row) : row.column));
    return { kind: 'plain', text: `skipped ${[...new Set(names)].join(', ')}: ${reason}` };
  });
}

function ofBound(run: Run): Note[] {
  const rated = run.rows.filter((row) => row.outcome === 'passed' && row.ofBoundPercent !== null);
  if (rated.length === 0) return [];
  const texts = [...groupBy(rated, (row) => row.column)].map(([column, rows]) => {
    const percents = rows.map((row) => row.ofBoundPercent!);
    return `${column} ${rangeText(percents, 1)} %`;
  });
  return [{ kind: 'plain', text: `share of the best possible (bound): ${texts.join(', ')}` }];
}

function verified(run: Run): Note {
  const sum = (key: 'bytes' | 'wrong') =>
    run.rows.reduce((total, row) => total + row.checked[key], 0);
  const [bytes, wrong] = [sum('bytes'), sum('wrong')];
  if (bytes === 0) return { kind: 'doubt', text: 'not verified: no bytes were checked' };
  const unchecked = run.rows.filter((r) => r.nanoseconds !== null && r.checked.bytes === 0).length;
  const rest = unchecked === 0 ? '' : `; ${plural(unchecked, 'row')} not checked`;
  const checked = `verified: ${formatBytesRounded(bytes)} bytes checked`;
  if (wrong > 0) return { kind: 'bad', text: `${checked}, ${wrong} WRONG${rest}` };
  return { kind: 'plain', about: 'verified', text: `${checked}, none wrong${rest}` };
}

function ending(run: Run): Note[] {
  // A note on its row already reports wrong data.
  const others = run.errors.filter(({ code }) => code !== 'DATA_WRONG');
  const errors = others.map(({ message, hint }): Note => {
    return { kind: 'bad', text: `error: ${message}${hint === undefined ? '' : ` (${hint})`}` };
  });
  if (run.outcome !== 'aborted') return errors;
  return [...errors, { kind: 'bad', text: 'aborted: these are partial results' }];
}
