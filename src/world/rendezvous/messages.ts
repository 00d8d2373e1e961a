import { z } from 'zod';
import { errorCodes } from '../../errors.js';

const memberSchema = z.object({
  rank: z.number().int().min(0),
  host: z.string().min(1).max(255),
  /** Differs between two hosts and between two boots of one. */
  bootId: z.string().max(64),
  /** Two ranks can use the same loopback and shared memory only if this is equal too. */
  netns: z.string().max(64),
  pid: z.number().int().min(1),
  localRank: z.number().int().min(0),
});
export type Member = Readonly<z.infer<typeof memberSchema>>;

const name = z.string().max(256);
/** Ties replies to a request. A collective's is the same on all ranks, so one encoding serves all. */
const op = z.string().max(320);
const timeoutMs = z.number().min(0).max(86_400_000);

const collectiveKinds = ['allgather', 'barrier', 'gather', 'broadcast'] as const;
export type CollectiveKind = (typeof collectiveKinds)[number];

/** Why a job ends early, as told to every rank. */
const failureSchema = z.object({
  /** True where no rank is to blame: the message stands as it is. */
  ofJob: z.boolean().optional(),
  code: z.enum(errorCodes),
  message: z.string().max(8192),
  hint: z.string().max(2048).optional(),
  rank: z.number().int().min(0).optional(),
  /** Ranks that never joined. */
  absent: z.array(z.number().int().min(0)).optional(),
});
export type Failure = z.infer<typeof failureSchema>;

/** Cause of the error that ends a job which not all ranks joined. */
export class AbsentRanks extends Error {
  readonly ranks: readonly number[];

  constructor(ranks: readonly number[], cause?: unknown) {
    super(`never joined: rank ${ranks.join(', ')}`, { cause });
    this.ranks = ranks;
  }
}

export const requestSchema = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('join'),
    size: z.number().int().min(1),
    /** The version of Weft. */
    version: z.string().max(64),
    member: memberSchema,
  }),
  z.object({
    t: z.literal('collect'),
    kind: z.enum(collectiveKinds),
    name,
    turn: z.number().int().min(0),
    timeoutMs,
    value: z.unknown(),
  }),
  z.object({ t: z.literal('note'), text: name, aloud: z.boolean().optional() }),
  z.object({ t: z.literal('clock'), op }),
  z.object({ t: z.literal('fail'), op, failure: failureSchema }),
  z.object({ t: z.literal('beat') }),
  z.object({ t: z.literal('bye') }),
]);
export type Request = z.infer<typeof requestSchema>;

/** From rank 0 to a rank. Values of a collective come in as many messages as keep each of them bounded. */
export const replySchema = z.discriminatedUnion('t', [
  z.object({ t: z.literal('welcome'), members: z.array(memberSchema) }),
  z.object({
    t: z.literal('values'),
    op,
    values: z.array(z.tuple([z.number().int().min(0), z.unknown()])),
  }),
  z.object({ t: z.literal('done'), op }),
  z.object({ t: z.literal('refused'), op, failure: failureSchema }),
  z.object({ t: z.literal('abort'), failure: failureSchema }),
  z.object({ t: z.literal('beat') }),
  z.object({ t: z.literal('bye') }),
]);
export type Reply = z.infer<typeof replySchema>;

export const collectiveOp = (kind: CollectiveKind, name: string, turn: number): string =>
  `${kind} "${name}" ${turn}`;
