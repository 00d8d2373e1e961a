// Steps for plans of two ranks, which the contract tests run.
import { seededRandom } from '../../src/measure/seeded-random.js';
import { type Plan, planVersion, type Step, type TransferPart } from '../../src/plan/plan.js';

export const bytes = 2 ** 20;
export const random = seededRandom(18);
export const upTo = (most: number) => Math.floor(random() * (most + 1));

export const planOf = (rank: number, steps: readonly Step[], how: Partial<Plan> = {}): Plan => ({
  ...{ version: planVersion, rank, world: 2, channels: 1, chunkBytes: 4096, window: 8 },
  ...{ delivery: 'complete', sourceBytes: bytes, targetBytes: bytes, steps, ...how },
});

/** Parts of odd lengths, of which some are empty, that overlap neither here nor there. */
export function scatteredParts(count: number): TransferPart[] {
  const room = Math.floor(bytes / count);
  const places = () =>
    Array.from({ length: count }, (_, i) => i * room)
      .map((place) => ({ place, key: random() }))
      .sort((a, b) => a.key - b.key)
      .map(({ place }) => place);
  const [locals, remotes] = [places(), places()];
  return locals.map((local, i) => ({
    local: local + upTo(64),
    remote: remotes[i]! + upTo(64),
    bytes: i % 50 === 49 ? 0 : 1 + upTo(room - 130),
  }));
}

const total = (parts: readonly { readonly bytes: number }[]) =>
  parts.reduce((sum, part) => sum + part.bytes, 0);

export const readOf = (
  peer: number,
  parts: readonly TransferPart[],
  after: number[] = [],
): Step => ({
  ...{ kind: 'post', op: 'read', channel: 0, peer, parts, after },
  local: { buffer: 'target', offset: parts[0]!.local, bytes: total(parts) },
  remote: { offset: parts[0]!.remote },
});

export const writeOf = (peer: number, parts: readonly TransferPart[], slot = 0): Step => ({
  ...{ kind: 'post', op: 'write', channel: 0, peer, parts, slot, after: [] },
  local: { buffer: 'source', offset: parts[0]!.local, bytes: total(parts) },
  remote: { offset: parts[0]!.remote },
});

export const waitOf = (source: number, all: readonly TransferPart[], slot = 0): Step => {
  const parts = all.map(({ remote: offset, bytes: length }) => ({ offset, bytes: length }));
  return {
    ...{ kind: 'wait', source, slot, after: [], parts },
    ...{ offset: parts[0]!.offset, bytes: total(parts) },
  };
};
