import { WeftError } from '../errors.js';
import { addon, isNativeFault } from '../native/addon.js';
import type { NativeOwnKernel } from '../native/tasks.js';
import { gpuError } from './faults.js';
import { encodeArguments, type KernelArgument, type Parameter, parametersOf } from './ptx.js';
import { runTask } from './queue.js';

export type { KernelArgument } from './ptx.js';

/** Blocks, and threads of a block: a number, or up to three. */
export interface LaunchShape {
  readonly grid: number | readonly number[];
  readonly block: number | readonly number[];
  /** Dynamic shared memory of a block, in bytes. */
  readonly shared?: number;
}

/** How a kernel is launched, besides its shape. */
export interface LaunchOptions {
  /** Default 60 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const defaultTimeoutMs = 60_000;
const hints = {
  tooLong:
    'The kernel is still running, because kernels cannot be stopped. Check what it waits for.',
  impossible: 'Pass large data through a buffer.',
};
/** What CUDA's driver says of PTX it cannot use: no code for this GPU, invalid, of too new a version. */
const badPtx: readonly number[] = [209, 218, 222];

/** A kernel of the user's own. See Gpu.loadKernel. */
export class Kernel {
  readonly name: string;
  readonly #parameters: readonly Parameter[];
  readonly #native: NativeOwnKernel;

  constructor(gpuIndex: number, ptx: string, name: string) {
    this.name = name;
    this.#parameters = parametersOf(ptx, name);
    try {
      this.#native = new (addon().OwnKernel)(gpuIndex, ptx, name);
    } catch (error) {
      throw loadError(error);
    }
  }

  /**
   * Resolves when the kernel has ended, and what it wrote can be seen. Launches that are not awaited run side by side.
   * A wait that is given up, by its deadline or the signal, leaves the kernel running: its memory must stay.
   */
  launch(
    { grid, block, shared = 0 }: LaunchShape,
    args: readonly KernelArgument[],
    { timeoutMs = defaultTimeoutMs, signal }: LaunchOptions = {},
  ): Promise<void> {
    const job = {
      grid: threeOf('grid', grid),
      block: threeOf('block', block),
      sharedBytes: shared,
      args: encodeArguments(this.name, this.#parameters, args),
      timeoutMs: Math.ceil(timeoutMs),
    };
    return runTask(() => this.#native.launch(job), signal, hints);
  }
}

function threeOf(what: string, value: number | readonly number[]): number[] {
  const [x, y = 1, z = 1, ...more] = typeof value === 'number' ? [value] : value;
  const whole = [x, y, z].every((one) => Number.isInteger(one) && one! > 0 && one! < 2 ** 31);
  if (whole && more.length === 0) return [x!, y, z];
  throw new TypeError(`\`${what}\` must be one to three whole numbers, 1 or more`);
}

function loadError(error: unknown): unknown {
  if (!isNativeFault(error) || !badPtx.includes(error.code)) return gpuError(error);
  return new WeftError('BAD_USAGE', `the CUDA driver cannot use this PTX: ${error.text}`, {
    hint: 'Compile it with `nvcc -ptx -arch=compute_80`; a driver older than that nvcc needs a lower .version line.',
    cause: error,
  });
}
