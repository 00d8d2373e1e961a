import { ZodError } from 'zod';
import {
  encodeFrames,
  FrameError,
  FrameReader,
  memberLimits,
} from '../../../src/world/rendezvous/frames.js';
import {
  relayedSchema,
  replySchema,
  requestSchema,
} from '../../../src/world/rendezvous/messages.js';
import { packValue, unpackValue } from '../../../src/world/rendezvous/values.js';
import type { Dice } from '../dice.js';
import { type Json, mutateBytes, mutateJson } from '../mutate.js';
import type { Target } from '../target.js';

const member = { rank: 1, host: 'h1', bootId: 'b', netns: 'n', pid: 7, localRank: 1 };
const failure = { code: 'TIMEOUT', message: 'm', hint: 'h', rank: 1, absent: [2] };
const packed = packValue([1n, Number.NaN, undefined, new Float64Array(4), { $: 1, a: [true] }]);

/** Every message of the rendezvous once. */
export const messages: readonly Json[] = [
  { weft: 4, nonce: '0'.repeat(64) },
  { job: '0'.repeat(16), nonce: '0'.repeat(64), mac: '0'.repeat(64) },
  { accepted: '0'.repeat(64) },
  { t: 'join', size: 2, version: '0.1.0', member },
  { t: 'join', size: 2, version: '0.1.0', member, relay: { host: '10.0.0.1', port: 9 } },
  { t: 'relayed' },
  { t: 'direct', why: 'w' },
  { t: 'got', op: 'allgather "a" 0' },
  { t: 'parent', rank: 1, host: '127.0.0.1', port: 9 },
  { t: 'link', rank: 2 },
  { t: 'linked' },
  { t: 'collect', kind: 'allgather', name: 'a', turn: 0, timeoutMs: 1000, value: packed },
  { t: 'collect', kind: 'broadcast', name: 'b', turn: 0, timeoutMs: 1000, value: packed },
  { t: 'note', text: 'reading' },
  { t: 'clock', op: 'clock 0' },
  { t: 'fail', op: 'fail 0', failure },
  { t: 'bye' },
  { t: 'beat' },
  { t: 'welcome', members: [{ ...member, rank: 0 }, member] },
  {
    t: 'values',
    op: 'allgather "a" 0',
    values: [
      [0, packed],
      [1, 3],
    ],
  },
  { t: 'values', op: 'allgather "a" 0', values: [[0, 1]], all: true },
  { t: 'done', op: 'allgather "a" 0', all: true },
  { t: 'done', op: 'allgather "a" 0' },
  { t: 'refused', op: 'allgather "a" 0', failure },
  { t: 'abort', failure },
];
export const messageWords = ['$', 'v', 'bigint', 'number', 'Float64Array', 'object', 't', 'values'];

/** Some messages as bytes: wrong messages in good frames, or bytes that are no frames. */
export function brokenFrames(dice: Dice, from: readonly Json[]): Buffer {
  const some = Array.from({ length: 1 + dice.length(4) }, () => dice.pick(from));
  const wrong = some.map((one) => (dice.chance(0.6) ? mutateJson(dice, one, messageWords) : one));
  const bytes = Buffer.concat(wrong.map((message) => encodeFrames(message)));
  return dice.chance(0.4) ? mutateBytes(dice, bytes) : bytes;
}

function read(bytes: Buffer, trusted: boolean, cut: number): void {
  const reader = new FrameReader();
  if (trusted) reader.limits = memberLimits;
  for (let at = 0; at < bytes.length; at += cut) {
    reader.push(bytes.subarray(at, at + cut));
    for (let next = reader.next(); next !== undefined; next = reader.next()) {
      requestSchema.safeParse(next.message);
      relayedSchema.safeParse(next.message);
      const reply = replySchema.safeParse(next.message);
      if (reply.success && reply.data.t === 'values') {
        for (const [, value] of reply.data.values) unpackValue(value);
      }
    }
  }
}

/** The bytes of a connection, without one. */
export const frames: Target = {
  name: 'frames',
  share: 295,
  make: (dice) => {
    const bytes = brokenFrames(dice, messages);
    const [trusted, cut] = [dice.chance(0.7), 1 + dice.length(bytes.length)];
    return {
      shown: bytes,
      run: () => read(bytes, trusted, cut),
      isRefusal: (error) =>
        error instanceof FrameError ||
        error instanceof ZodError ||
        (error instanceof TypeError && error.message.startsWith('a rank sent')),
    };
  },
};
