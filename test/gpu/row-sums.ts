// Sums of rows in JavaScript: what the kernels must give, bit by bit (a NaN may be any NaN).
import type { RowDtype, RowSums } from '../../src/gpu/tokens.js';

const word = new DataView(new ArrayBuffer(4));
const floatOf = (bits: number): number => {
  word.setUint32(0, bits);
  return word.getFloat32(0);
};
const bitsOf = (value: number): number => {
  word.setFloat32(0, value);
  return word.getUint32(0);
};

/** To the nearest whole number, ties to even. */
function nearest(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

const half = {
  wide(bits: number): number {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const size =
      exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : exponent === 0
          ? fraction * 2 ** -24
          : (1024 + fraction) * 2 ** (exponent - 25);
    return bits & 0x8000 ? -size : size;
  },
  rounded(value: number): number {
    if (Number.isNaN(value)) return 0x7fff;
    const sign = Object.is(Math.sign(value), -1) || Object.is(value, -0) ? 0x8000 : 0;
    const size = Math.abs(value);
    if (size >= 65_520) return sign | 0x7c00;
    // Steps of 2^-24 below 2^-14; above, a carry out of the fraction is the next exponent.
    const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
    const steps = nearest(size * 2 ** (10 - exponent));
    return sign | (size < 2 ** -14 ? steps : ((exponent + 15) << 10) + steps - 1024);
  },
};

const brain = {
  wide: (bits: number): number => floatOf(bits * 65_536),
  rounded(value: number): number {
    const bits = bitsOf(value);
    return Number.isNaN(value) ? 0x7fff : nearest(bits / 65_536);
  },
};

const single = { wide: floatOf, rounded: bitsOf };

export const formats = { bfloat16: brain, float16: half, float32: single } as const;

/** Rows as the bits of their elements. */
export const rowArray = (dtype: RowDtype, buffer: ArrayBufferLike, offset = 0, bytes?: number) =>
  dtype === 'float32'
    ? new Uint32Array(buffer, offset, bytes === undefined ? undefined : bytes / 4)
    : new Uint16Array(buffer, offset, bytes === undefined ? undefined : bytes / 2);

export function referenceSums(sums: RowSums, rows: ArrayLike<number>): number[] {
  const { dtype, elements, addends, index, weights } = sums;
  const { wide, rounded } = formats[dtype];
  const result: number[] = [];
  for (let token = 0; token < index.length / addends; token++) {
    for (let i = 0; i < elements; i++) {
      let sum: number | undefined;
      for (let j = token * addends; j < (token + 1) * addends; j++) {
        if (index[j]! < 0) continue;
        const product = Math.fround(weights[j]! * wide(rows[index[j]! * elements + i]!));
        sum = sum === undefined ? product : Math.fround(sum + product);
      }
      result.push(rounded(sum ?? 0));
    }
  }
  return result;
}

/** Every NaN as one. */
export const withOneNan = (dtype: RowDtype, bits: Iterable<number>): number[] =>
  Array.from(bits, (one) => (Number.isNaN(formats[dtype].wide(one)) ? -1 : one));
