import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../../errors.js';
import type { Connection } from './connection.js';

/** Changes whenever two versions of Weft could misunderstand each other. */
export const protocolVersion = 4;

export interface Secret {
  readonly token: string;
  readonly jobId: string;
}

/**
 * Both sides prove that they know the token, over nonces of both, without showing it:
 *   door → rank   hello    version, nonce
 *   rank → door   proof    fingerprint of the job, nonce, HMAC
 *   door → rank   accepted HMAC   |   refused reason
 * The door is rank 0 or a relay; its name is part of each HMAC, so that a proof for one door does not open another.
 * A rank sends nothing before it has seen a hello, so a stranger's server is never disturbed. The job's
 * fingerprint only serves a clear error when two jobs meet; it is no proof.
 */
const hello = z.object({ weft: z.number().int(), nonce: z.string().length(64) });
const proof = z.object({
  job: z.string().length(16),
  nonce: z.string().length(64),
  mac: z.string().length(64),
});
const verdict = z.union([
  z.object({ accepted: z.string().length(64) }),
  z.object({ refused: z.enum(['job', 'token']) }),
]);

/** Why a handshake failed: `stranger` is anything that is not a Weft rendezvous. */
type RefusalReason = 'stranger' | 'version' | 'job' | 'token';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

const jobFingerprint = (jobId: string): string =>
  createHash('sha256').update(`weft job ${jobId}`).digest('hex').slice(0, 16);

type Side = 'rank' | 'door';
type Nonces = readonly [hello: string, proof: string];

/** Who listens: `rank 0`, or `relay 5` for rank 5. */
export type DoorName = 'rank 0' | `relay ${number}`;

function prove(secret: Secret, side: Side, door: DoorName, nonces: Nonces): string {
  const text = JSON.stringify([protocolVersion, side, door, secret.jobId, ...nonces]);
  return createHmac('sha256', secret.token).update(text).digest('hex');
}

/** Takes the same time whether the first or the last character differs. */
function sameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  // As many characters may be more bytes, for which the comparison throws.
  return one.length === other.length && timingSafeEqual(one, other);
}

const nonce = (): string => randomBytes(32).toString('hex');

async function expect<T>(
  connection: Connection,
  schema: z.ZodType<T>,
  timeoutMs: number,
): Promise<T> {
  let message: unknown;
  try {
    message = await connection.receive(timeoutMs);
  } catch (cause) {
    throw new Refusal('stranger', messageOf(cause), cause);
  }
  const parsed = schema.safeParse(message);
  if (!parsed.success)
    throw new Refusal('stranger', 'it does not use the protocol of Weft', parsed.error);
  return parsed.data;
}

/** The door's side. Rejects with a Refusal; the caller closes the connection. */
export async function admit(
  connection: Connection,
  secret: Secret,
  timeoutMs: number,
  door: DoorName = 'rank 0',
): Promise<void> {
  const ours = nonce();
  connection.send({ weft: protocolVersion, nonce: ours });
  const theirs = await expect(connection, proof, timeoutMs);
  if (theirs.job !== jobFingerprint(secret.jobId)) {
    connection.send({ refused: 'job' });
    throw new Refusal('job', 'it belongs to another job');
  }
  if (!sameText(theirs.mac, prove(secret, 'rank', door, [ours, theirs.nonce]))) {
    connection.send({ refused: 'token' });
    throw new Refusal('token', 'its token is wrong');
  }
  connection.trust();
  connection.send({ accepted: prove(secret, 'door', door, [ours, theirs.nonce]) });
}

/** A rank's side. Rejects with a Refusal; the caller closes the connection. */
export async function introduce(
  connection: Connection,
  secret: Secret,
  timeoutMs: number,
  door: DoorName = 'rank 0',
): Promise<void> {
  const greeting = await expect(connection, hello, timeoutMs);
  if (greeting.weft !== protocolVersion) {
    throw new Refusal(
      'version',
      `${door} uses protocol version ${greeting.weft}, this rank uses ${protocolVersion}`,
    );
  }
  const ours = nonce();
  connection.send({
    job: jobFingerprint(secret.jobId),
    nonce: ours,
    mac: prove(secret, 'rank', door, [greeting.nonce, ours]),
  });
  const answer = await expect(connection, verdict, timeoutMs);
  if ('refused' in answer) {
    const what =
      answer.refused === 'job' ? `it is ${door} of another job` : 'the token of this rank is wrong';
    throw new Refusal(answer.refused, what);
  }
  if (!sameText(answer.accepted, prove(secret, 'door', door, [greeting.nonce, ours]))) {
    throw new Refusal('token', 'it does not know the token');
  }
  connection.trust();
}
