import type { Engine } from '../engine/engine.js';
import { summarize } from '../measure/statistics.js';
import { HostBuffer } from '../memory/buffer.js';
import { namedInterfaces } from '../peers/interfaces.js';
import { openPeerById, refusalOf } from '../peers/open-peers.js';
import type { Peer, PeerBuffers } from '../peers/peer.js';
import { type Collective, collectiveTraffic, footprintOf } from '../plan/collective.js';
import { skippedRow } from '../results/rows.js';
import type { Row } from '../results/schema.js';
import type { Session } from '../session/session.js';
import type { PeerId } from '../settings/table.js';
import { type Ours, rowOfPeer } from './against-row.js';
import type { Cell } from './fitting.js';
import { type RoundTimes, takeTurns } from './in-turns.js';
import { type PlanJob, situationOf } from './job.js';
import { gatherAvailable, misfit } from './memory-plan.js';
import { hashesOfMoved } from './moved.js';
import type { Ready, RowRunner } from './runner.js';
import { addChecked, type Checked, verifyTurn } from './verify.js';

export interface AgainstOptions {
  readonly job: PlanJob;
  readonly session: Session;
  readonly rows: RowRunner;
  /** The rows that will be measured. */
  readonly cells: readonly Cell[];
  /** The interface that the user named for sockets. */
  readonly iface?: string | undefined;
  /** Hears of rows on rank 0. */
  row(row: Row): void;
}

/** What one size is as a collective, or why it is not compared. The same on every rank. */
type Subject = { readonly collective: Collective } | { readonly reason: string };

/** Other libraries, open to be compared with a job's plans. Every rank makes the same calls in the same order. */
export class Against implements AsyncDisposable {
  readonly #options: AgainstOptions;
  readonly #subjects: ReadonlyMap<string, Subject>;
  readonly #buffers: PeerBuffers;
  readonly #peers: Peer[] = [];

  private constructor(
    options: AgainstOptions,
    subjects: ReadonlyMap<string, Subject>,
    buffers: PeerBuffers,
  ) {
    this.#options = options;
    this.#subjects = subjects;
    this.#buffers = buffers;
  }

  /** Opens the libraries that were asked for; undefined where none was. One that cannot run gets its row here. */
  static async open(options: AgainstOptions): Promise<Against | undefined> {
    const { against: ids = [] } = options.job.settings;
    if (ids.length === 0 || options.cells.length === 0) return undefined;
    const subjects = await subjectsOf(options);
    const against = new Against(options, subjects, await buffersFor(options, subjects));
    try {
      for (const id of ids) await against.#open(id);
      return against;
    } catch (error) {
      await against[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #open(id: PeerId): Promise<void> {
    const { job, session, iface } = this.#options;
    const { timeoutMs, gpus } = job.settings;
    const reasons = [...this.#subjects.values()].map((one) => this.#refusal(id, one));
    if (reasons.every((reason) => reason !== undefined)) return this.#skip(id, reasons[0]!);
    const peer = await openPeerById(id, {
      ...{ world: session.world, buffers: this.#buffers, timeoutMs, gpus },
      interfaces: namedInterfaces(process.env, iface),
      ifaceGiven: iface !== undefined,
    });
    if ('reason' in peer) this.#skip(id, peer.reason, { outcome: peer.outcome });
    else this.#peers.push(peer);
  }

  /** Compares all columns that do one thing at one size with every library, in turns, and writes a row per library. */
  async compare(cells: readonly Cell[]): Promise<void> {
    const { session, rows, job, row } = this.#options;
    const [cell] = cells as [Cell];
    const subject = this.#subjects.get(subjectKey(cell))!;
    const peers = this.#willing(cell, subject);
    if (!('collective' in subject) || peers.length === 0) return;
    const { collective } = subject;
    const ours = cells.map(({ column, bytes }) => onlyTurn(rows.ready(column, bytes)));
    const [{ plan }] = ours as [Ours];
    const around = this.#aroundCall(cell, ours);
    const theirs = peers.map((peer) => ({
      column: peer.id,
      engine: asEngine(peer, collective, this.#buffers, session.world.rank),
      plan,
      beside: peer.memory === 'pinned' ? around : undefined,
    }));
    const before = await this.#verify(theirs, collective);
    const times = await takeTurns(session, [...ours, ...theirs], job.settings);
    const after = await this.#verify(theirs, collective);
    const checks = await session.world.gather('checked', [before, after]);
    const plans = ours.map((one) => one.plan);
    const moved = await hashesOfMoved(session.world, plans, collective);
    if (!times || !checks) return;
    for (const [index, peer] of peers.entries()) {
      const own = times[ours.length + index]!;
      const checked = addChecked(checks.flat().flatMap((all) => all[index] ?? []));
      const name = nameOf(peer.id, cell.column);
      const parts = { name, ours, times, own, bytes: cell.bytes, checked, moved };
      row({
        ...rowOfPeer(peer, { ...parts, includes: around?.what }),
        ...this.#figures(cell, ours[0]!, own),
      });
    }
  }

  /** The libraries that can do this. The others get their rows here. */
  #willing({ column, bytes }: Cell, subject: Subject): Peer[] {
    return this.#peers.filter(({ id }) => {
      const reason = this.#refusal(id, subject);
      if (reason !== undefined) this.#skip(nameOf(id, column), reason, { bytes });
      return reason === undefined;
    });
  }

  /** What each library delivers, byte by byte; nothing where the user wants no check. */
  async #verify(theirs: readonly Theirs[], collective: Collective): Promise<Checked[]> {
    const { session, rows, job } = this.#options;
    const found: Checked[] = [];
    if (!job.settings.check) return found;
    const traffic = collectiveTraffic(collective, session.world.size);
    for (const { engine, plan } of theirs) {
      found.push(await verifyTurn(engine, traffic, plan, rows.nextSeed()));
    }
    return found;
  }

  /** What a program does besides the call, in the buffers of a column in host memory. */
  #aroundCall({ column, bytes }: Cell, ours: readonly Ours[]) {
    const { job, session } = this.#options;
    const host = ours.find(({ memory }) => memory === 'pinned');
    const { hosts, rank } = session.world;
    const around = host && job.benchmark.aroundCall?.(situationOf(job, hosts, bytes, column));
    if (!host || !around) return undefined;
    const plan = around.plan({ rank, channels: host.plan.channels, strategy: column.strategy });
    return { what: around.what, engine: host.engine, plan };
  }

  /** Those of the benchmark's own that need no more than a time. */
  #figures({ column, bytes }: Cell, { turn }: Ours, { samples, batch }: RoundTimes) {
    const { job, session } = this.#options;
    return job.benchmark.figures?.({
      situation: situationOf(job, session.world.hosts, bytes, column),
      turns: [turn],
      nanoseconds: summarize(samples, batch),
      samples: [samples],
      byRank: [],
      marks: [],
      plans: [],
      batch,
    });
  }

  #refusal(id: PeerId, subject: Subject): string | undefined {
    if ('reason' in subject) return subject.reason;
    return refusalOf(id, subject.collective, this.#options.session.world.size);
  }

  #skip(
    name: string,
    reason: string,
    more: { bytes?: number; outcome?: 'failed' | 'skipped' } = {},
  ) {
    const { session, row } = this.#options;
    if (session.world.rank === 0) row(skippedRow({ column: name, reason, ...more }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const peer of this.#peers.splice(0).reverse()) await peer.close();
    this.#buffers.input.close();
    this.#buffers.output.close();
  }
}

/** The libraries work on buffers of their own, beside those of the plans. */
async function buffersFor(
  { session }: AgainstOptions,
  subjects: ReadonlyMap<string, Subject>,
): Promise<PeerBuffers> {
  const { rank, size } = session.world;
  const footprints = [...subjects.values()].flatMap((one) =>
    'collective' in one ? [footprintOf(one.collective, rank, size)] : [],
  );
  const largest = (which: 'sourceBytes' | 'targetBytes') =>
    HostBuffer.prepare(Math.max(64, ...footprints.map((one) => one[which])));
  return { input: await largest('sourceBytes'), output: await largest('targetBytes') };
}

async function subjectsOf({ job, session, cells }: AgainstOptions): Promise<Map<string, Subject>> {
  const { world } = session;
  const available = await gatherAvailable(world);
  return new Map(
    cells.map((cell): [string, Subject] => {
      const { column, bytes } = cell;
      const situation = situationOf(job, world.hosts, bytes, column);
      const collective = job.benchmark.against?.(situation);
      const key = subjectKey(cell);
      if (!collective)
        return [key, { reason: 'the libraries have no equivalent with these options' }];
      const needs = world.members.map(({ rank }) => footprintOf(collective, rank, world.size));
      const reason = misfit(world, needs, available);
      return [key, reason === undefined ? { collective } : { reason }];
    }),
  );
}

const subjectKey = ({ column, bytes }: Cell): string => `${column.variant ?? ''} ${bytes}`;

/** The column of a library's rows: with the thing it does, where a benchmark has several. */
const nameOf = (id: PeerId, { variant }: Cell['column']): string =>
  variant === undefined ? id : `${variant}-${id}`;

/** Whether two rows do the same thing with as many bytes. */
export const sameSubject = (a: Cell, b: Cell | undefined): boolean =>
  b !== undefined && subjectKey(a) === subjectKey(b);

function onlyTurn({ column, engine, turns, plans }: Ready): Ours {
  const [turn, ...more] = turns;
  if (!turn || more.length > 0) throw new TypeError('only a benchmark of one turn is comparable');
  return { column: column.name, memory: column.memory.id, engine, plan: plans[0]!, turn };
}

interface Theirs {
  readonly engine: Pick<Engine, 'rank' | 'source' | 'target' | 'run'>;
  readonly plan: Ours['plan'];
}

/** A library in the place of an engine: whatever the plan is, it carries out the collective. */
const asEngine = (
  peer: Peer,
  collective: Collective,
  { input, output }: PeerBuffers,
  rank: number,
): Theirs['engine'] => ({
  rank,
  source: input,
  target: output,
  run: (_plan, { iterations, batch = 1 }) => peer.run(collective, { iterations, batch }),
});
