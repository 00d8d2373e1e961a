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
  type SumPart,
} from '../../src/plan/plan.js';

// Written from the table in src/plan/encode.ts, as native/plan reads it.
const stepFields = 13;
const partFields = 3;
const deliveries: readonly Delivery[] = ['complete', 'transmit'];
const buffers: readonly PlanBuffer[] = ['source', 'target', 'sourceDevice', 'targetDevice'];
const ops = ['write', 'send', 'recv', 'read'] as const;
const waitKind = 4;
const copyKind = 5;
const joinKind = 6;
const sumKind = 7;
const dtypes = ['float32', 'float16', 'bfloat16', 'int32'] as const;

/** The inverse of `encodePlan`. */
export function decodePlan({ header, steps, after, parts }: EncodedPlan): Plan {
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
      decodeStep(steps.subarray(index * stepFields, (index + 1) * stepFields), after, parts),
    ),
  };
}

function decodeStep(fields: Float64Array, allAfter: Uint32Array, allParts: Float64Array): Step {
  const field = (i: number): number => fields[i] ?? 0;
  const after = [...allAfter.subarray(field(8), field(8) + field(9))];
  const rows = Array.from({ length: field(12) }, (_, i) => [
    ...allParts.subarray((field(11) + i) * partFields, (field(11) + i + 1) * partFields),
  ]);
  const bytes = field(5);
  const slice = { buffer: buffers[field(3)]!, offset: field(4), bytes };
  if (field(0) === waitKind) {
    const parts = rows.map(([offset, , length]) => ({ offset: offset!, bytes: length! }));
    return {
      ...(field(1) > 0 && { channel: field(1) - 1 }),
      ...{ kind: 'wait', source: field(2), slot: field(7), offset: field(4), bytes, after },
      ...(parts.length > 0 && { parts }),
    };
  }
  if (field(0) === joinKind) {
    return { kind: 'join', after, ...(field(4) > 0 && { notBefore: field(4) }) };
  }
  if (field(0) === sumKind) {
    const device = buffers[field(3)] === 'targetDevice' && ({ device: true } as const);
    return { kind: 'sum', dtype: dtypes[field(1)]!, ...device, parts: decodeSums(rows), after };
  }
  if (field(0) === copyKind) {
    const to = { buffer: buffers[field(10)]!, offset: field(6), bytes };
    const parts = rows.map(([at, into, length]) => ({ from: at!, to: into!, bytes: length! }));
    return { kind: 'copy', from: slice, to, after, ...(parts.length > 0 && { parts }) };
  }
  const op = ops[field(0)];
  if (op === undefined) throw new TypeError(`step kind ${field(0)} is not known`);
  const local = slice as PlanSlice<PostBuffer>;
  const post = { kind: 'post', channel: field(1), peer: field(2), local, after } as const;
  if (op === 'send' || op === 'recv') return { ...post, op } satisfies PostStep;
  const remote = { offset: field(6) };
  const parts = rows.map(([at, to, length]) => ({ local: at!, remote: to!, bytes: length! }));
  const access = { ...post, remote, ...(parts.length > 0 && { parts }) };
  return op === 'read' ? { ...access, op } : { ...access, op, slot: field(7) };
}

function decodeSums(rows: readonly number[][]): SumPart[] {
  const parts: SumPart[] = [];
  for (let at = 0; at < rows.length; ) {
    const [into, bytes, count] = rows[at]!;
    const from = rows.slice(at + 1, at + 1 + count!).map(([buffer, offset, weight]) => ({
      buffer: buffers[buffer!] as PostBuffer,
      offset: offset!,
      weight: weight!,
    }));
    parts.push({ into: into!, bytes: bytes!, from });
    at += 1 + count!;
  }
  return parts;
}
