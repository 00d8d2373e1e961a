import { encodeFrames } from './frames.js';
import { type CollectiveKind, collectiveOp, type Failure, type Request } from './messages.js';
import { PatientDeadline } from './patient-deadline.js';
import type { Relays } from './relays.js';
import { type Roster, seconds } from './roster.js';

type Send = (rank: number, frames: Buffer) => void;
/** Undefined where rank 0 sends everything itself. */
type Paths = Pick<Relays, 'isRelayed' | 'above'> | undefined;
type Contribution = Extract<Request, { t: 'collect' }>;

interface Collective {
  readonly kind: CollectiveKind;
  readonly title: string;
  readonly values: Map<number, unknown>;
  /** Ranks that wait for the result, each with its own deadline. */
  readonly waiting: Map<number, PatientDeadline>;
  /** Ranks that got the result or gave up: when all have, the collective is forgotten. */
  readonly answered: Set<number>;
  /** Of an allgather in a world with relays, once it is complete. */
  sent?: { readonly result: Buffer; readonly unconfirmed: Set<number> };
}

const root = 0;
/** Values travel together until a message has so many bytes; one that is larger travels alone. */
const messageBytes = 8 << 20;

/** Rank 0's table of collectives under way. The n-th call of a kind and name on every rank belong together. */
export class Collectives {
  readonly #roster: Roster;
  readonly #send: Send;
  readonly #paths: Paths;
  readonly #open = new Map<string, Collective>();
  /** Whom ranks waited for when they gave up, until they come again. */
  readonly #gaveUpOn = new Map<number, ReadonlySet<number>>();

  constructor(roster: Roster, send: Send, paths?: Paths) {
    this.#roster = roster;
    this.#send = send;
    this.#paths = paths;
  }

  contribute(rank: number, request: Contribution): void {
    const op = collectiveOp(request.kind, request.name, request.turn);
    const collective = this.#find(op, request);
    if (collective.values.has(rank)) throw new Error(`${op} was entered twice`);
    collective.values.set(rank, request.value);
    this.#gaveUpOn.delete(rank);
    this.#roster.did(rank, `entered ${collective.title}`);
    const { timeoutMs } = request;
    const late = () => this.#expire(op, rank, timeoutMs);
    collective.waiting.set(rank, new PatientDeadline(timeoutMs, late));
    // Only who waits can be answered by this arrival: everyone by the last of all, else at most its own rank.
    const decides = this.#completes(collective, rank);
    this.#answerReady(op, collective, decides ? [...collective.waiting.keys()] : [rank]);
  }

  /** A rank said goodbye: whoever waits for it need not wait for the deadline. */
  leave(rank: number): void {
    for (const [op, collective] of this.#open) {
      this.#answered(op, collective, rank);
      this.#answerReady(op, collective, [...collective.waiting.keys()]);
    }
  }

  /** A rank has what all ranks get. */
  got(rank: number, op: string): void {
    const collective = this.#open.get(op);
    if (collective?.sent?.unconfirmed.delete(rank) !== true) return;
    this.#roster.did(rank, `finished ${collective.title}`);
    if (collective.waiting.has(rank)) this.#answered(op, collective, rank);
  }

  /** A rank has no relay any more: what it still waits for may never have come. */
  resend(rank: number): void {
    for (const [op, collective] of this.#open) {
      const { sent, waiting } = collective;
      if (sent !== undefined && waiting.has(rank)) this.#answer(op, collective, rank, sent.result);
    }
  }

  close(): void {
    for (const { waiting } of this.#open.values())
      for (const deadline of waiting.values()) deadline.cancel();
    this.#open.clear();
  }

  #find(op: string, { kind, name }: Contribution): Collective {
    const found = this.#open.get(op);
    if (found !== undefined) return found;
    const collective: Collective = {
      kind,
      title: `${kind} "${name}"`,
      values: new Map(),
      waiting: new Map(),
      answered: new Set(this.#roster.seats.filter((s) => s.left).map((s) => s.member.rank)),
    };
    this.#open.set(op, collective);
    return collective;
  }

  #missing(collective: Collective, rank: number): number[] {
    const { sent } = collective;
    // Of the relays above, the last one that has nothing keeps it from the others.
    if (sent)
      return (this.#paths?.above(rank) ?? []).filter((r) => sent.unconfirmed.has(r)).slice(-1);
    if (this.#isReady(collective, rank)) return [];
    if (collective.kind === 'broadcast') return [root];
    const everyone = Array.from({ length: this.#roster.size }, (_, r) => r);
    return everyone.filter((r) => !collective.values.has(r));
  }

  /** Who keeps a rank waiting in the end: not those who wait for others themselves. */
  #culprits(collective: Collective, rank: number, asked = new Set<number>()): Set<number> {
    const found = new Set<number>();
    asked.add(rank);
    for (const one of this.#missing(collective, rank)) {
      if (asked.has(one)) continue;
      const other = [...this.#open.values()].find(({ waiting }) => waiting.has(one));
      const behind = [
        ...(other ? this.#culprits(other, one, asked) : (this.#gaveUpOn.get(one) ?? [])),
      ];
      const others = behind.filter((culprit) => !asked.has(culprit));
      for (const culprit of others.length > 0 ? others : [one]) found.add(culprit);
    }
    return found;
  }

  #isReady({ kind, values }: Collective, rank: number): boolean {
    if (kind === 'gather' && rank !== root) return true;
    if (kind === 'broadcast') return values.has(root);
    return values.size === this.#roster.size;
  }

  /** Whether the arrival of this rank may have been what others waited for. */
  #completes({ kind, values }: Collective, rank: number): boolean {
    return kind === 'broadcast' ? rank === root : values.size === this.#roster.size;
  }

  #answerReady(op: string, collective: Collective, ranks: readonly number[]): void {
    if (collective.sent !== undefined) return;
    if (collective.kind === 'allgather' && this.#paths && this.#isReady(collective, root)) {
      this.#answerThroughRelays(op, collective, this.#paths);
      return;
    }
    // What all ranks get is encoded once.
    let shared: Buffer | undefined;
    for (const rank of ranks) {
      if (this.#isReady(collective, rank)) {
        const ownResult = collective.kind === 'gather';
        const frames = (ownResult ? undefined : shared) ?? this.#result(op, collective, rank);
        if (!ownResult) shared = frames;
        this.#answer(op, collective, rank, frames);
        this.#roster.did(rank, `finished ${collective.title}`);
      } else if (this.#roster.left > 0) {
        const gone = this.#missing(collective, rank).filter((r) => this.#roster.at(r)?.left);
        if (gone.length === 0) continue;
        const message = `${collective.title} cannot complete: ${this.#roster.describe(gone)}, then closed`;
        this.#refuse(op, collective, rank, { code: 'PEER_LOST', message });
      }
    }
  }

  /** Ranks with a relay wait on, with their deadlines, until they confirm. */
  #answerThroughRelays(op: string, collective: Collective, paths: NonNullable<Paths>): void {
    const ranks = [...collective.waiting.keys()];
    const result = this.#result(op, collective, root, { all: true });
    collective.sent = { result, unconfirmed: new Set(ranks) };
    for (const rank of ranks) {
      if (!paths.isRelayed(rank)) this.#answer(op, collective, rank, result);
    }
  }

  #result(op: string, { kind, values }: Collective, rank: number, mark: object = {}): Buffer {
    const done = encodeFrames({ t: 'done', op, ...mark });
    if (kind === 'barrier' || (kind === 'gather' && rank !== root)) return done;
    const sources = kind === 'broadcast' ? [root] : [...values.keys()];
    return Buffer.concat([...encodeValues({ op, ...mark }, sources, values), done]);
  }

  #expire(op: string, rank: number, timeoutMs: number): void {
    const collective = this.#open.get(op);
    if (collective === undefined) return;
    const culprits = this.#culprits(collective, rank);
    this.#gaveUpOn.set(rank, culprits);
    // All relays above have it, but not the rank, as far as rank 0 can tell: the link between them, or the rank itself.
    const nearest = culprits.size === 0 && collective.sent && this.#paths?.above(rank)[0];
    const missing = this.#roster.describe(nearest ? [nearest] : [...culprits]);
    const message = `${collective.title} timed out after ${seconds(timeoutMs)}; missing: ${missing}`;
    this.#refuse(op, collective, rank, { code: 'TIMEOUT', message });
  }

  #refuse(op: string, collective: Collective, rank: number, failure: Failure): void {
    this.#roster.did(rank, `gave up on ${collective.title}`);
    this.#answer(op, collective, rank, encodeFrames({ t: 'refused', op, failure }));
  }

  #answer(op: string, collective: Collective, rank: number, frames: Buffer): void {
    this.#answered(op, collective, rank);
    this.#send(rank, frames);
  }

  #answered(op: string, { waiting, answered }: Collective, rank: number): void {
    waiting.get(rank)?.cancel();
    waiting.delete(rank);
    answered.add(rank);
    if (answered.size === this.#roster.size) this.#open.delete(op);
  }
}

function* encodeValues(
  head: { readonly op: string },
  sources: readonly number[],
  values: Collective['values'],
): Generator<Buffer> {
  let together: [rank: number, value: unknown][] = [];
  let bytes = 0;
  for (const source of sources) {
    const value = values.get(source);
    const own = JSON.stringify(value)?.length ?? 0;
    if (bytes > 0 && bytes + own > messageBytes) {
      yield encodeFrames({ t: 'values', ...head, values: together });
      together = [];
      bytes = 0;
    }
    together.push([source, value]);
    bytes += own;
  }
  yield encodeFrames({ t: 'values', ...head, values: together });
}
