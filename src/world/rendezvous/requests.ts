import { WeftError } from '../../errors.js';
import { type CallOptions, Calls } from './calls.js';
import { type ClockOffset, readOffset } from './clock-offset.js';
import type { Connection } from './connection.js';
import { encodeFrames, requestLimits } from './frames.js';
import { type CollectiveKind, collectiveOp, type Failure } from './messages.js';
import { seconds } from './roster.js';
import { packValue } from './values.js';

/** Rank 0 answers at the deadline and names who is missing; only if it is stuck itself do we speak first. */
const serverGraceMs = 3000;

interface RequestsOptions {
  readonly toRankZero: Connection;
  /** As messages call it. */
  rankZero(): string;
}

/** What a rank asks of rank 0. Each request has an op of its own, by which its client finds the answer in `calls`. */
export class Requests {
  readonly calls = new Calls();
  readonly #options: RequestsOptions;
  readonly #turns = new Map<string, number>();
  #failures = 0;
  #clockReadings = 0;
  #ended: WeftError | undefined;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** The values by rank, as far as this rank gets them; see `World` for the meaning of each kind. */
  async collect(
    kind: CollectiveKind,
    name: string,
    value: unknown,
    options: CallOptions,
  ): Promise<Map<number, unknown>> {
    if (name.length > 256) throw new TypeError(`a name of ${name.length} characters is too long`);
    const packed = packValue(value);
    const turn = this.#turns.get(`${kind} ${name}`) ?? 0;
    const request = { t: 'collect', kind, name, turn, timeoutMs: options.timeoutMs, value: packed };
    const answer = this.#ask(collectiveOp(kind, name, turn), request, options);
    this.#turns.set(`${kind} ${name}`, turn + 1);
    return answer;
  }

  /** How far this host's clock is ahead of rank 0's. */
  clockOffset(options: CallOptions): Promise<ClockOffset> {
    return readOffset(async () => {
      const op = `clock ${this.#clockReadings++}`;
      const values = await this.#ask(op, { t: 'clock', op }, options);
      return Number(values.get(0));
    });
  }

  /** Resolves when rank 0 has told all ranks, or cannot any more. */
  async fail(failure: Failure): Promise<void> {
    const op = `fail ${this.#failures++}`;
    try {
      await this.#ask(op, { t: 'fail', op, failure }, { timeoutMs: 1000 });
    } catch {
      // Our own abort, or rank 0 is gone: in both cases the others know or will know.
    }
  }

  /** Refuses what is open, and from now on everything. */
  end(error: WeftError): void {
    this.#ended ??= error;
    this.calls.refuseAll(error);
  }

  async #ask(op: string, request: object, options: CallOptions): Promise<Map<number, unknown>> {
    if (this.#ended !== undefined) throw this.#ended;
    const limits = { ...options, timeoutMs: options.timeoutMs + serverGraceMs };
    const answer = this.calls.open(op, limits, () => this.#stuck(op));
    try {
      this.#options.toRankZero.sendEncoded(encodeFrames(request, requestLimits));
    } catch (error) {
      this.calls.refuse(op, error); // too large to send
    }
    return answer;
  }

  #stuck(op: string): WeftError {
    const { toRankZero, rankZero } = this.#options;
    const silent = performance.now() - toRankZero.lastHeardMs;
    return new WeftError(
      'TIMEOUT',
      `${op} timed out: ${rankZero()} does not answer; its last message came ${seconds(silent)} ago`,
    );
  }
}
