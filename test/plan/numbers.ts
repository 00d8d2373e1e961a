import type { SumDtype, SumPart } from '../../src/plan/plan.js';

/** Numbers as they lie in memory, one at a time; written from IEEE 754, to compare the addon's sums with. */
export interface Numbers {
  readonly bytes: number;
  get(view: DataView, offset: number): number;
  put(view: DataView, offset: number, value: number): void;
}

/** The nearest of a format with so many bits; of two equally near, the one whose last bit is 0. */
function roundTo(value: number, fractionBits: number, leastExponent: number, most: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), leastExponent);
  const unit = 2 ** (exponent - fractionBits);
  const units = value / unit;
  const low = Math.floor(units);
  const up = units - low > 0.5 || (units - low === 0.5 && low % 2 !== 0);
  const rounded = (up ? low + 1 : low) * unit;
  return Math.abs(rounded) > most ? Math.sign(value) * Number.POSITIVE_INFINITY : rounded;
}

const halfMost = 65_504;

function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(roundTo(value, 10, -14, halfMost));
  if (Number.isNaN(value)) return 0x7e00;
  if (size === Number.POSITIVE_INFINITY) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | (size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  return sign | ((exponent + 15) << 10) | ((size / 2 ** exponent - 1) * 1024);
}

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const scratch = new DataView(new ArrayBuffer(4));
const float32Most = 3.4028234663852886e38;

export const numbers: Readonly<Record<SumDtype, Numbers>> = {
  float32: {
    bytes: 4,
    get: (view, offset) => view.getFloat32(offset, true),
    put: (view, offset, value) => view.setFloat32(offset, value, true),
  },
  float16: {
    bytes: 2,
    get: (view, offset) => halfValue(view.getUint16(offset, true)),
    put: (view, offset, value) => view.setUint16(offset, halfBits(value), true),
  },
  bfloat16: {
    bytes: 2,
    get: (view, offset) => {
      scratch.setUint32(0, view.getUint16(offset, true) << 16);
      return scratch.getFloat32(0);
    },
    put: (view, offset, value) => {
      scratch.setFloat32(0, roundTo(value, 7, -126, float32Most));
      view.setUint16(offset, Number.isNaN(value) ? 0x7fc0 : scratch.getUint32(0) >>> 16, true);
    },
  },
  int32: {
    bytes: 4,
    get: (view, offset) => view.getInt32(offset, true),
    put: (view, offset, value) => view.setInt32(offset, value | 0, true),
  },
};

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** What a sum must give, added in float32 (int32: in int32) in the order of the list and rounded once. */
export function addUp(
  dtype: SumDtype,
  { into, bytes, from }: SumPart,
  buffers: { readonly source: Uint8Array; readonly target: Uint8Array },
): void {
  const { get, put, bytes: each } = numbers[dtype];
  const views = { source: viewOf(buffers.source), target: viewOf(buffers.target) };
  const cut = dtype === 'int32' ? (value: number) => value | 0 : Math.fround;
  for (let at = 0; at < bytes; at += each) {
    let sum: number | undefined;
    for (const { buffer, offset, weight = 1 } of from) {
      const product = cut(get(views[buffer], offset + at) * Math.fround(weight));
      sum = sum === undefined ? product : cut(sum + product);
    }
    put(views.target, into + at, sum!);
  }
}
