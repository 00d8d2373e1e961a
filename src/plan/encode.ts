import {
  type BufferRange,
  type Delivery,
  maxParts,
  type Plan,
  type PlanBuffer,
  type PlanSlice,
  type ReadStep,
  type Step,
  sumDtypes,
  type TransferPart,
  type WriteStep,
} from './plan.js';

/**
 * A plan as typed arrays, for the addon. All numbers but weights are unsigned integers.
 *
 * | header[i] | field                          |
 * |-----------|--------------------------------|
 * | 0         | version (2)                    |
 * | 1         | rank                           |
 * | 2         | world                          |
 * | 3         | channels                       |
 * | 4         | window                         |
 * | 5         | delivery: 0 complete, 1 transmit |
 * | 6         | number of steps                |
 * | 7, 8      | chunkBytes, low and high 32 bits |
 * | 9, 10     | sourceBytes, low and high 32 bits |
 * | 11, 12    | targetBytes, low and high 32 bits |
 * | 13 … 15   | 0                              |
 *
 * | steps[13·s + i] | write / send / recv / read | wait  | copy         | join | sum     |
 * |-----------------|----------------------------|-------|--------------|------|---------|
 * | 0 kind          | 0 / 1 / 2 / 3              | 4     | 5            | 6    | 7       |
 * | 1               | channel                    | channel + 1; 0: open | 0 | 0 | dtype ² |
 * | 2               | peer                       | source | 0           | 0    | 0       |
 * | 3 buffer ¹      | local                      | 0     | from         | 0    | into    |
 * | 4               | local offset               | offset | from offset | notBefore, else 0 | 0 |
 * | 5               | bytes                      | bytes | bytes        | 0    | 0       |
 * | 6               | remote offset (write, read), else 0 | 0 | to offset | 0  | 0       |
 * | 7               | slot (write), else 0       | slot  | 0            | 0    | 0       |
 * | 8               | first index in `after`, for every kind                      |
 * | 9               | how many indices from there, for every kind                 |
 * | 10 buffer ¹     | 0                          | 0     | to           | 0    | 0       |
 * | 11              | first row of `parts`, for every kind                        |
 * | 12              | how many rows from there; 0: the step is one stretch        |
 *
 * ¹ 0 source, 1 target, 2 sourceDevice, 3 targetDevice; the addends of a sum into targetDevice: 0 sourceDevice, 1 targetDevice
 * ² 0 float32, 1 float16, 2 bfloat16, 3 int32
 *
 * `after` holds the step indices of all steps, one after the other.
 *
 * | parts[3·row + i] | write, read   | wait   | copy        | sum: a part       | then each of its addends |
 * |------------------|---------------|--------|-------------|-------------------|--------------------------|
 * | 0                | local offset  | offset | from offset | into              | buffer ¹                 |
 * | 1                | remote offset | 0      | to offset   | bytes             | offset                   |
 * | 2                | bytes         | bytes  | bytes       | number of addends | weight                   |
 */
export interface EncodedPlan {
  readonly header: Uint32Array<ArrayBuffer>;
  readonly steps: Float64Array<ArrayBuffer>;
  readonly after: Uint32Array<ArrayBuffer>;
  readonly parts: Float64Array<ArrayBuffer>;
}

const headerFields = 16;
const stepFields = 13;
const partFields = 3;

const deliveries: readonly Delivery[] = ['complete', 'transmit'];
const buffers: readonly PlanBuffer[] = ['source', 'target', 'sourceDevice', 'targetDevice'];
const ops = ['write', 'send', 'recv', 'read'] as const;
const waitKind = 4;
const copyKind = 5;
const joinKind = 6;
const sumKind = 7;
const highUnit = 2 ** 32;

const low = (value: number): number => value % highUnit;
const high = (value: number): number => Math.floor(value / highUnit);

export function encodePlan(plan: Plan): EncodedPlan {
  const header = new Uint32Array(headerFields);
  header.set([plan.version, plan.rank, plan.world, plan.channels, plan.window]);
  header[5] = deliveries.indexOf(plan.delivery);
  header[6] = plan.steps.length;
  [plan.chunkBytes, plan.sourceBytes, plan.targetBytes].forEach((bytes, i) => {
    header.set([low(bytes), high(bytes)], 7 + 2 * i);
  });
  const steps = new Float64Array(plan.steps.length * stepFields);
  const after = new Uint32Array(plan.steps.reduce((sum, step) => sum + step.after.length, 0));
  const rows: Row[] = [];
  let afterStart = 0;
  plan.steps.forEach((step, index) => {
    checkAfter(step, index);
    const fields = steps.subarray(index * stepFields, (index + 1) * stepFields);
    fields.set(encodeStep(step));
    fields[8] = afterStart;
    fields[9] = step.after.length;
    after.set(step.after, afterStart);
    afterStart += step.after.length;
    fields[11] = rows.length;
    addRows(step, rows);
    fields[12] = rows.length - fields[11];
  });
  const parts = new Float64Array(rows.length * partFields);
  for (const [i, row] of rows.entries()) parts.set(row, i * partFields);
  return { header, steps, after, parts };
}

type Row = readonly [number, number, number];

function addRows(step: Step, rows: Row[]): void {
  if (!('parts' in step) || step.parts === undefined) return;
  checkCountOf(step.parts);
  switch (step.kind) {
    case 'post':
      checkTransfer(step, step.parts);
      for (const { local, remote, bytes } of step.parts) rows.push([local, remote, bytes]);
      break;
    case 'wait':
      checkStretch(step, step.parts[0]!.offset, step.parts);
      for (const { offset, bytes } of step.parts) rows.push([offset, 0, bytes]);
      break;
    case 'copy':
      checkStretch(step.from, step.parts[0]!.from, step.parts);
      checkStretch(step.to, step.parts[0]!.to, step.parts);
      for (const { from, to, bytes } of step.parts) rows.push([from, to, bytes]);
      break;
    case 'sum':
      for (const { into, bytes, from } of step.parts) {
        rows.push([into, bytes, from.length]);
        for (const { buffer, offset, weight = 1 } of from) {
          rows.push([buffers.indexOf(buffer), offset, weight]);
        }
      }
  }
}

function checkCountOf(parts: readonly unknown[]): void {
  if (parts.length > 0 && parts.length <= maxParts) return;
  throw new TypeError(`a step has ${parts.length} parts; it may have 1 to ${maxParts}`);
}

function checkTransfer(step: WriteStep | ReadStep, parts: readonly TransferPart[]): void {
  checkStretch(step.local, parts[0]!.local, parts);
  if (step.remote.offset !== parts[0]!.remote) {
    throw new TypeError('the remote offset of a step is not that of its first part');
  }
}

function checkStretch(
  whole: BufferRange,
  firstOffset: number,
  parts: readonly { readonly bytes: number }[],
): void {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (whole.offset !== firstOffset) {
    throw new TypeError('the offset of a step is not that of its first part');
  }
  if (whole.bytes !== bytes) {
    throw new TypeError(`the parts of a step have ${bytes} bytes, and the step ${whole.bytes}`);
  }
}

function checkAfter(step: Step, index: number): void {
  for (const earlier of step.after) {
    if (!Number.isInteger(earlier) || earlier < 0 || earlier >= index) {
      throw new TypeError(
        `step ${index} comes after step ${earlier}, which is not an earlier step`,
      );
    }
  }
}

function encodeStep(step: Step): number[] {
  const buffer = (slice: PlanSlice): number => buffers.indexOf(slice.buffer);
  switch (step.kind) {
    case 'post': {
      const { channel, peer, local } = step;
      const head = [ops.indexOf(step.op), channel, peer, buffer(local), local.offset, local.bytes];
      if (step.op === 'write') return [...head, step.remote.offset, step.slot];
      return step.op === 'read' ? [...head, step.remote.offset] : head;
    }
    case 'wait':
      return [
        waitKind,
        (step.channel ?? -1) + 1,
        step.source,
        0,
        step.offset,
        step.bytes,
        0,
        step.slot,
      ];
    case 'copy': {
      const { from, to } = step;
      if (from.bytes !== to.bytes) throw new TypeError('the slices of a copy differ in length');
      const head = [copyKind, 0, 0, buffer(from), from.offset, from.bytes, to.offset];
      return [...head, 0, 0, 0, buffer(to)];
    }
    case 'join':
      return [joinKind, 0, 0, 0, step.notBefore ?? 0];
    case 'sum':
      return [sumKind, sumDtypes.indexOf(step.dtype), 0, step.device ? 3 : 1];
  }
}
