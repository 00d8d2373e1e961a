import { chunksOf, type PostStep, type Step } from '../../src/plan/plan.js';

/** A piece of a transfer: offsets in the local and in the peer's buffer. */
export interface Cut {
  readonly local: number;
  readonly remote: number;
  readonly bytes: number;
}

export const sideOf = (post: PostStep): 'in' | 'out' => (post.op === 'recv' ? 'in' : 'out');

/** How often a step must be issued, or arrive, until it is done. */
export function countOf(step: Step, chunkBytes: number): number {
  if (step.kind === 'wait') return chunksOf(step, chunkBytes);
  return step.kind === 'post' ? cutsOf(step, chunkBytes).length : 1;
}

const knownCuts = new WeakMap<PostStep, readonly Cut[]>();

/** The chunks of a transfer, part by part. */
export function cutsOf(post: PostStep, chunkBytes: number): readonly Cut[] {
  const known = knownCuts.get(post);
  if (known) return known;
  const { offset: local, bytes } = post.local;
  const whole = { local, remote: 'remote' in post ? post.remote.offset : 0, bytes };
  const parts = ('parts' in post && post.parts) || [whole];
  const cuts = parts.flatMap((part) =>
    Array.from({ length: Math.max(1, Math.ceil(part.bytes / chunkBytes)) }, (_, i) => ({
      local: part.local + i * chunkBytes,
      remote: part.remote + i * chunkBytes,
      bytes: Math.min(chunkBytes, part.bytes - i * chunkBytes),
    })),
  );
  knownCuts.set(post, cuts);
  return cuts;
}
