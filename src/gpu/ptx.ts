import { WeftError } from '../errors.js';
import { DeviceBuffer } from './device-buffer.js';

/** A parameter of a kernel: bytes of a structure, or a number. */
export interface Parameter {
  readonly bytes: number;
  readonly kind: 'bytes' | 'integer' | 'float';
}

/** What a parameter can be given: a structure's bytes, a buffer's address, a pointer or any other number. */
export type KernelArgument = Uint8Array | DeviceBuffer | bigint | number;

export function parametersOf(ptx: string, name: string): Parameter[] {
  const entries = [...ptx.matchAll(/\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?/g)];
  const found = entries.find(([, entry]) => entry === name);
  if (!found) {
    const names = entries.map(([, entry]) => entry).join(', ');
    throw new WeftError('BAD_USAGE', `the PTX has no kernel ${name}`, {
      hint: names
        ? `It has ${names}. Declare kernels extern "C" so that C++ does not mangle their names.`
        : 'It has no kernel. Compile a file with a __global__ function with nvcc -ptx.',
    });
  }
  const list = found[2]?.trim() ?? '';
  return list === '' ? [] : list.split(',').map(parameter);
}

function parameter(text: string): Parameter {
  const block = /\.b8\s+[\w$]+\[(\d+)\]/.exec(text);
  if (block) return { bytes: Number(block[1]), kind: 'bytes' };
  const scalar = /\.([bsuf])(8|16|32|64)\b/.exec(text);
  if (!scalar)
    throw new WeftError('BAD_USAGE', `cannot parse the kernel parameter: ${text.trim()}`);
  return { bytes: Number(scalar[2]) / 8, kind: scalar[1] === 'f' ? 'float' : 'integer' };
}

export function encodeArguments(
  name: string,
  parameters: readonly Parameter[],
  args: readonly KernelArgument[],
): Uint8Array[] {
  if (args.length !== parameters.length) {
    throw new TypeError(`${name} takes ${parameters.length} arguments, not ${args.length}`);
  }
  return parameters.map((one, index) => {
    const bytes = encode(one, args[index]!);
    if (bytes?.length === one.bytes) return bytes;
    throw new TypeError(`argument ${index} of ${name} must be ${described(one)}`);
  });
}

const described = ({ bytes, kind }: Parameter): string =>
  kind === 'bytes' ? `${bytes} bytes` : `a ${bytes * 8}-bit ${kind}, or its bytes`;

function encode({ bytes, kind }: Parameter, value: KernelArgument): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (value instanceof DeviceBuffer)
    return kind === 'integer' ? integer(value.address, bytes) : undefined;
  if (kind === 'integer') {
    return typeof value === 'bigint' || Number.isSafeInteger(value)
      ? integer(BigInt(value), bytes)
      : undefined;
  }
  if (kind === 'bytes' || typeof value !== 'number') return undefined;
  if (bytes === 8) return new Uint8Array(new Float64Array([value]).buffer);
  return bytes === 4 ? new Uint8Array(new Float32Array([value]).buffer) : undefined;
}

/** Signed or not: both have the same bits. Undefined where the value does not fit. */
function integer(value: bigint, bytes: number): Uint8Array | undefined {
  const bits = bytes * 8;
  if (BigInt.asUintN(bits, value) !== value && BigInt.asIntN(bits, value) !== value)
    return undefined;
  return new Uint8Array(new BigUint64Array([BigInt.asUintN(64, value)]).buffer, 0, bytes);
}
