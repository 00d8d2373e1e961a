/** Element types of the payload, named as in PyTorch. */
export const dtypes = ['float32', 'int32', 'int64'] as const;
export type Dtype = (typeof dtypes)[number];

/** As the addon numbers them. */
export const dtypeCode: Record<Dtype, number> = { float32: 0, int32: 1, int64: 2 };

export const elementBytesOf = (dtype: Dtype): number => (dtype === 'int64' ? 8 : 4);

/**
 * A whole number as the dtype stores it: float32 rounds to the nearest, ties to even (from 2²⁴ up not every number has
 * a place), int32 keeps the low 32 bits.
 */
export function stored(value: number, dtype: Dtype): number {
  if (dtype === 'float32') return Math.fround(value);
  return dtype === 'int32' ? Number(BigInt.asIntN(32, BigInt(value))) : value;
}

/** The elements of a slice as text, as Python prints a list of them. */
export function valuesIn(bytes: Uint8Array, dtype: Dtype): string[] {
  const { buffer, byteOffset, byteLength } = bytes;
  const view = new DataView(buffer, byteOffset, byteLength);
  const size = elementBytesOf(dtype);
  return Array.from({ length: Math.floor(byteLength / size) }, (_, index) => {
    const at = index * size;
    if (dtype === 'int64') return String(view.getBigInt64(at, true));
    return dtype === 'int32'
      ? String(view.getInt32(at, true))
      : pythonFloat(view.getFloat32(at, true));
  });
}

/** `1048576.0`, `1e+16`, `nan`. */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
