import { z } from 'zod';
import { errorCodes, WeftError } from '../../errors.js';

const rank = z.number().int().min(0);

const memberSchema = z.object({
  rank,
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
const port = z.number().int().min(1).max(65_535);
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

export const toError = ({ code, message, hint, absent }: Failure): WeftError =>
  new WeftError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(absent && { cause: new AbsentRanks(absent) }),
  });

export const requestSchema = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('join'),
    size: z.number().int().min(1),
    /** The version of Weft. */
    version: z.string().max(64),
    member: memberSchema,
    /** Where it listens for the ranks below it, if there are any; without a host, where rank 0 is. */
    relay: z.object({ host: z.string().max(255).optional(), port }).optional(),
  }),
  /** It gets from its parent what all ranks get; `direct`: from rank 0, and why, if that is a surprise. */
  z.object({ t: z.literal('relayed') }),
  z.object({ t: z.literal('direct'), why: z.string().max(256).optional() }),
  /** What all ranks get has come, and was passed on. */
  z.object({ t: z.literal('got'), op }),
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

const welcome = z.object({ t: z.literal('welcome'), members: z.array(memberSchema) });
const values = z.array(z.tuple([z.number().int().min(0), z.unknown()]));
const bye = z.object({ t: z.literal('bye') });
/** Of what all ranks get, in a world with relays: they pass it on, and every rank confirms it. */
const all = z.boolean().optional();

/** From rank 0 to a rank. Values of a collective come in as many messages as keep each of them bounded. */
export const replySchema = z.discriminatedUnion('t', [
  welcome,
  z.object({ t: z.literal('parent'), rank, host: z.string().max(255).optional(), port }),
  z.object({ t: z.literal('values'), op, values, all }),
  z.object({ t: z.literal('done'), op, all }),
  z.object({ t: z.literal('refused'), op, failure: failureSchema }),
  z.object({ t: z.literal('abort'), failure: failureSchema }),
  z.object({ t: z.literal('beat') }),
  bye,
]);
export type Reply = z.infer<typeof replySchema>;

/** What a relay may hear first, and answers. */
export const linkSchema = z.object({ t: z.literal('link'), rank });
export const linkedSchema = z.object({ t: z.literal('linked') });

/** From a relay to a rank below it: what is meant for all. A relay cannot end the job. */
export const relayedSchema = z.discriminatedUnion('t', [
  welcome,
  z.object({ t: z.literal('values'), op, values, all: z.literal(true) }),
  z.object({ t: z.literal('done'), op, all: z.literal(true) }),
  bye,
]);

/** The op under which ranks confirm the list of members. */
export const welcomeOp = 'welcome';

export const collectiveOp = (kind: CollectiveKind, name: string, turn: number): string =>
  `${kind} "${name}" ${turn}`;
