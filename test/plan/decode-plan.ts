import type { EncodedPlan } from '../../src/plan/encode.js';
import {
  type Delivery,
  type Plan,
  type PlanBuffer,
  type PlanSlice,
  type PostBuffer,
  type PostStep,
  planVersion,
  type Step,
} from '../../src/plan/plan.js';

// Written from the table in src/plan/encode.ts, as native/plan reads it.
const stepFields = 12;
const deliveries: readonly Delivery[] = ['complete', 'transmit'];
const buffers: readonly PlanBuffer[] = ['source', 'target', 'sourceDevice', 'targetDevice'];
const ops = ['write', 'send', 'recv'] as const;
const waitKind = 3;
const copyKind = 4;

/** The inverse of `encodePlan`. */
export function decodePlan({ header, steps, after }: EncodedPlan): Plan {
  const field = (i: number): number => header[i] ?? 0;
  const wide = (i: number): number => field(i) + field(i + 1) * 2 ** 32;
  if (field(0) !== planVersion) throw new TypeError(`plan version ${field(0)} is not known`);
  return {
    version: planVersion,
    rank: field(1),
    world: field(2),
    channels: field(3),
    window: field(4),
    delivery: deliveries[field(5)]!,
    chunkBytes: wide(7),
    sourceBytes: wide(9),
    targetBytes: wide(11),
    steps: Array.from({ length: field(6) }, (_, index) =>
      decodeStep(steps.subarray(index * stepFields, (index + 1) * stepFields), after),
    ),
  };
}

function decodeStep(fields: Float64Array, allAfter: Uint32Array): Step {
  const field = (i: number): number => fields[i] ?? 0;
  const after = [...allAfter.subarray(field(8), field(8) + field(9))];
  const bytes = field(5);
  const slice = { buffer: buffers[field(3)]!, offset: field(4), bytes };
  if (field(0) === waitKind) {
    return { kind: 'wait', source: field(2), slot: field(7), offset: field(4), bytes, after };
  }
  if (field(0) === copyKind) {
    const to = { buffer: buffers[field(10)]!, offset: field(6), bytes };
    return { kind: 'copy', from: slice, to, after };
  }
  const op = ops[field(0)];
  if (op === undefined) throw new TypeError(`step kind ${field(0)} is not known`);
  const local = slice as PlanSlice<PostBuffer>;
  const post = { kind: 'post', channel: field(1), peer: field(2), local, after } as const;
  if (op !== 'write') return { ...post, op } satisfies PostStep;
  return { ...post, op, remote: { offset: field(6) }, slot: field(7) };
}
