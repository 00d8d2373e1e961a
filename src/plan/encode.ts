import type { Delivery, Plan, PlanBuffer, PlanSlice, Step } from './plan.js';

/**
 * A plan as typed arrays, for the addon. All numbers are unsigned integers.
 *
 * | header[i] | field                          |
 * |-----------|--------------------------------|
 * | 0         | version (1)                    |
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
 * | steps[12·s + i] | write / send / recv | wait      | copy         |
 * |-----------------|---------------------|-----------|--------------|
 * | 0 kind          | 0 / 1 / 2           | 3         | 4            |
 * | 1               | channel             | 0         | 0            |
 * | 2               | peer                | source    | 0            |
 * | 3 buffer ¹      | local               | 0         | from         |
 * | 4               | local offset        | offset    | from offset  |
 * | 5               | bytes               | bytes     | bytes        |
 * | 6               | remote offset (write), else 0 | 0 | to offset  |
 * | 7               | slot (write), else 0 | slot     | 0            |
 * | 8               | first index in `after`, for every kind       |
 * | 9               | how many indices from there, for every kind  |
 * | 10 buffer ¹     | 0                   | 0         | to           |
 * | 11              | 0 (reserved), for every kind                 |
 *
 * ¹ 0 source, 1 target, 2 sourceDevice, 3 targetDevice
 *
 * `after` holds the step indices of all steps, one after the other.
 */
export interface EncodedPlan {
  readonly header: Uint32Array<ArrayBuffer>;
  readonly steps: Float64Array<ArrayBuffer>;
  readonly after: Uint32Array<ArrayBuffer>;
}

const headerFields = 16;
const stepFields = 12;

const deliveries: readonly Delivery[] = ['complete', 'transmit'];
const buffers: readonly PlanBuffer[] = ['source', 'target', 'sourceDevice', 'targetDevice'];
const ops = ['write', 'send', 'recv'] as const;
const waitKind = 3;
const copyKind = 4;
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
  let afterStart = 0;
  plan.steps.forEach((step, index) => {
    checkAfter(step, index);
    const fields = steps.subarray(index * stepFields, (index + 1) * stepFields);
    fields.set(encodeStep(step));
    fields[8] = afterStart;
    fields[9] = step.after.length;
    after.set(step.after, afterStart);
    afterStart += step.after.length;
  });
  return { header, steps, after };
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
      return step.op === 'write' ? [...head, step.remote.offset, step.slot] : head;
    }
    case 'wait':
      return [waitKind, 0, step.source, 0, step.offset, step.bytes, 0, step.slot];
    case 'copy': {
      const { from, to } = step;
      if (from.bytes !== to.bytes) throw new TypeError('the slices of a copy differ in length');
      const head = [copyKind, 0, 0, buffer(from), from.offset, from.bytes, to.offset];
      return [...head, 0, 0, 0, buffer(to)];
    }
  }
}
