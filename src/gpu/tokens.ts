import { WeftError } from '../errors.js';
import type { HostBuffer } from '../memory/buffer.js';
import { addon } from '../native/addon.js';
import type { NativeSpan, NativeTokenKernel, NativeTokenWork } from '../native/memory.js';
import type { CopyPart } from '../plan/plan.js';
import { DeviceBuffer } from './device-buffer.js';
import { awaitingGpu, callingGpu } from './faults.js';
import type { Gpu } from './gpu.js';

export type { CopyPart } from '../plan/plan.js';

export const rowDtypes = ['bfloat16', 'float16', 'float32'] as const;
/** Numbers that rows can be made of. */
export type RowDtype = (typeof rowDtypes)[number];

export const mostAddends = 16;

/**
 * Row t of the target becomes the sum of `weights[j] × row index[j]` of the source, j from `t × addends` up to
 * `(t + 1) × addends`. Addends whose index is −1 are left out. Products and sums are rounded to float32, one after
 * the other in the order of the list; the result is rounded once, to nearest even. Without addends it is 0.
 */
export interface RowSums {
  readonly dtype: RowDtype;
  /** Elements of a row. Rows lie side by side in both buffers. */
  readonly elements: number;
  /** Of every token: 1 to 16. */
  readonly addends: number;
  readonly index: Int32Array;
  readonly weights: Float32Array;
}

/** Memory that a kernel can reach: of its GPU, or pinned memory that was allocated after the GPU was opened. */
export type KernelBuffer = DeviceBuffer | HostBuffer;

/** Row `rows[i]` of the source becomes row i of the target. */
export const gatherParts = (rows: ArrayLike<number>, rowBytes: number): CopyPart[] =>
  Array.from(rows, (row, i) => ({ from: row * rowBytes, to: i * rowBytes, bytes: rowBytes }));

/** Row i of the source becomes row `rows[i]` of the target. */
export const scatterParts = (rows: ArrayLike<number>, rowBytes: number): CopyPart[] =>
  Array.from(rows, (row, i) => ({ from: i * rowBytes, to: row * rowBytes, bytes: rowBytes }));

/**
 * A kernel with its lists in GPU memory: prepared once, run often. See prepareCopy and prepareSums. Who prepares
 * closes; closing while it runs is allowed.
 */
export class TokenKernel implements Disposable {
  readonly gpuIndex: number;
  readonly #native: NativeTokenKernel;
  #closed = false;

  constructor(gpu: Gpu, work: NativeTokenWork) {
    this.gpuIndex = gpu.index;
    this.#native = callingGpu(() => new (addon().TokenKernel)(gpu.index, work));
  }

  /** Resolves when the target has the result. The buffers must not overlap. */
  async run(to: KernelBuffer, from: KernelBuffer): Promise<void> {
    await this.#start(to, from, 0);
  }

  /** Milliseconds of one run, by CUDA's events around `repeats` of them back to back, after one that is not timed. */
  async time(to: KernelBuffer, from: KernelBuffer, repeats: number): Promise<number> {
    if (!Number.isSafeInteger(repeats) || repeats < 1) {
      throw new TypeError(`\`repeats\` must be a whole number, 1 or more, not ${repeats}`);
    }
    return await this.#start(to, from, repeats);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#native.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #start(to: KernelBuffer, from: KernelBuffer, repeats: number): Promise<number> {
    if (this.#closed) throw new WeftError('CLOSED', 'the kernel is closed');
    const [target, source] = [this.#reachable('target', to), this.#reachable('source', from)];
    return await awaitingGpu(() => this.#native.time(target, source, repeats));
  }

  #reachable(name: string, buffer: KernelBuffer): NativeSpan {
    if (!(buffer instanceof DeviceBuffer)) {
      void buffer.gpuAddress; // throws where no GPU can reach it
    } else if (buffer.gpuIndex !== this.gpuIndex) {
      throw new TypeError(
        `the ${name} is on GPU ${buffer.gpuIndex}, the kernel on GPU ${this.gpuIndex}`,
      );
    }
    return buffer.native;
  }
}

/** Copies all parts with one kernel. Parts may have any length and place; in the target they must not overlap. */
export function prepareCopy(gpu: Gpu, parts: readonly CopyPart[]): TokenKernel {
  const numbers = new Float64Array(3 * parts.length);
  parts.forEach(({ from, to, bytes }, i) => {
    for (const number of [from, to, bytes]) {
      if (!Number.isSafeInteger(number) || number < 0) {
        throw new TypeError(`part ${i} has ${number} where a number of bytes, 0 or more, must be`);
      }
    }
    numbers.set([from, to, bytes], 3 * i);
  });
  return new TokenKernel(gpu, { parts: numbers });
}

/** Adds rows, as RowSums says. */
export function prepareSums(gpu: Gpu, sums: RowSums): TokenKernel {
  const { dtype, elements, addends, index, weights } = sums;
  if (!rowDtypes.includes(dtype)) {
    throw new TypeError(`\`dtype\` must be one of ${rowDtypes.join(', ')}, not ${dtype}`);
  }
  checkWhole('elements', elements, 0, 2 ** 31 - 1);
  checkWhole('addends', addends, 1, mostAddends);
  if (index.length % addends !== 0 || weights.length !== index.length) {
    throw new TypeError(
      `\`index\` and \`weights\` must both have ${addends} entries per token, but have ${index.length} and ${weights.length}`,
    );
  }
  const wrong = index.findIndex((row) => row < -1);
  if (wrong >= 0)
    throw new TypeError(`index[${wrong}] is ${index[wrong]}: rows count from 0, −1 is none`);
  return new TokenKernel(gpu, { dtype, elements, addends, index, weights });
}

function checkWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new TypeError(`\`${name}\` must be a whole number from ${least} to ${most}, not ${value}`);
}
