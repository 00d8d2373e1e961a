import { constants } from 'node:os';
import { WeftError } from '../errors.js';
import { isNativeFault, type NativeFault } from '../native/addon.js';

/** Results of CUDA's driver that we have something to say about. */
const cuda = {
  outOfMemory: 2,
  stubLibrary: 34,
  deviceUnavailable: 46,
  noDevice: 100,
  invalidDevice: 101,
  unsupportedPtx: 222,
  noKernelForGpu: 209,
  invalidPtx: 218,
  operatingSystem: 304,
  notSupported: 801,
  notReady: 802,
  driverMismatch: 803,
  unknown: 999,
} as const;

/** After one of these the process cannot use the GPU any more: every later call fails with the same. */
const lost: Readonly<Record<number, string>> = {
  [cuda.deviceUnavailable]: 'another process uses the GPU exclusively',
  214: 'GPU memory had an uncorrectable ECC error',
  220: 'NVLink had an uncorrectable error',
  700: 'a kernel accessed an illegal address',
  702: 'a kernel exceeded the time limit and was stopped',
  709: 'the CUDA context was destroyed',
  710: 'a kernel failed a device-side assertion',
  714: 'a kernel corrupted its stack',
  715: 'a kernel executed an illegal instruction',
  716: 'a kernel used a misaligned address',
  717: 'a kernel used an address in the wrong address space',
  718: 'a kernel jumped to an invalid program counter',
  719: 'a kernel failed',
  [cuda.unknown]: 'the GPU failed with an unknown error',
};

const startFailed: Readonly<Record<number, { what: string; hint: string }>> = {
  [cuda.stubLibrary]: {
    what: 'the libcuda.so.1 found is the CUDA toolkit’s stub, not the driver',
    hint: 'Remove the toolkit’s stubs folder from LD_LIBRARY_PATH, or point WEFT_LIBCUDA at the driver’s library.',
  },
  [cuda.noDevice]: {
    what: 'the CUDA driver finds no GPU',
    hint: 'Does `nvidia-smi` list one? In a container, is the GPU passed in? Is CUDA_VISIBLE_DEVICES empty?',
  },
  [cuda.operatingSystem]: {
    what: 'the operating system denied the CUDA driver access',
    hint: 'Check that /dev/nvidia* exist and that you have access to them.',
  },
  [cuda.notReady]: {
    what: 'the GPUs are not ready',
    hint: 'On machines with NVSwitch, check that nvidia-fabricmanager is running.',
  },
  [cuda.driverMismatch]: {
    what: 'the kernel driver and libcuda.so.1 have different versions',
    hint: 'Restart the machine after a driver update; in a container, use the host’s libcuda.so.1.',
  },
};

/** Turns what the addon threw about a GPU into Weft's error; anything else passes through. */
export function gpuError(error: unknown): unknown {
  if (!isNativeFault(error)) return error;
  const { errno } = constants;
  if (error.operation === 'memory' && error.code === errno.EBADF) {
    return new WeftError('CLOSED', error.text, { cause: error });
  }
  if (error.operation === 'memory' && error.code === errno.ERANGE) return new TypeError(error.text);
  if (error.operation === 'dlopen') return noDriver(error);
  if (error.operation === 'dlsym' || error.operation === 'cuDriverGetVersion') return tooOld(error);
  if (error.operation === 'cuInit' || error.operation === 'cuDeviceGetCount') return noGpu(error);
  return inUse(error);
}

export function callingGpu<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw gpuError(error);
  }
}

export async function awaitingGpu<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw gpuError(error);
  }
}

function noDriver(cause: NativeFault): WeftError {
  const asked = process.env.WEFT_LIBCUDA;
  return new WeftError(
    'NO_GPU',
    asked ? `no CUDA driver in WEFT_LIBCUDA=${asked}` : 'this machine has no CUDA driver',
    {
      hint: asked
        ? 'Point WEFT_LIBCUDA at the driver’s libcuda.so.1, or unset it.'
        : 'On a machine with an NVIDIA GPU, install its driver; libcuda.so.1 comes with it.',
      cause,
    },
  );
}

function tooOld(cause: NativeFault): WeftError {
  return new WeftError('GPU_DRIVER_TOO_OLD', `the CUDA driver is too old: ${cause.text}`, {
    hint: 'Weft needs CUDA 11.0 (driver 450) or newer.',
    cause,
  });
}

function noGpu(cause: NativeFault): WeftError {
  const known = startFailed[cause.code];
  return new WeftError(
    'NO_GPU',
    known?.what ?? `the CUDA driver did not start: ${cause.operation}: ${cause.text}`,
    { hint: known?.hint ?? 'Does `nvidia-smi` work here?', cause },
  );
}

function inUse(cause: NativeFault): WeftError {
  const { operation, code, text } = cause;
  if (code === cuda.outOfMemory) {
    return new WeftError('MEMORY_LIMIT', `the GPU has too little free memory (${operation})`, {
      hint: 'Use smaller sizes or fewer ranks per GPU; `nvidia-smi` shows which processes use it.',
      cause,
    });
  }
  if (operation === 'cuDeviceGet' && code === cuda.invalidDevice) {
    return new WeftError('NO_GPU', 'there is no GPU with that number', {
      hint: '`weft info` lists the GPUs.',
      cause,
    });
  }
  if ([cuda.unsupportedPtx, cuda.noKernelForGpu, cuda.invalidPtx].some((one) => one === code)) {
    return new WeftError('UNSUPPORTED', `the GPU cannot run Weft’s kernels: ${text}`, {
      hint: 'Weft needs compute capability 8.0 or newer (A100, H100 and later).',
      cause,
    });
  }
  if (code === cuda.notSupported) {
    return new WeftError('UNSUPPORTED', `the GPU or its driver does not support ${operation}`, {
      hint: 'Weft stages GPU memory through pinned memory instead.',
      cause,
    });
  }
  const why = lost[code];
  return new WeftError('GPU_FAULT', why ?? `${operation}: ${text}`, {
    hint: why
      ? 'This process can no longer use the GPU. Look for the cause in `nvidia-smi -q` and the kernel log (Xid).'
      : 'The CUDA driver rejected the call; `nvidia-smi` shows the state of the GPU.',
    cause,
  });
}
