/** The numbers a symmetric array may hold. */
export type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** Such a type's constructor: `Float64Array`, … */
export interface NumberArrayType<A extends NumberArray> {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (buffer: ArrayBuffer, byteOffset: number, length: number): A;
}

/** An array that every rank has, at the same place of its heap. `local` is this rank's, the memory itself. */
export interface Symmetric<A extends NumberArray> {
  readonly local: A;
  readonly length: number;
  /** In every rank's heap, in bytes. */
  readonly offset: number;
}

/** Which elements; by default all of the source, to the start of the target. */
export interface PutRange {
  readonly from?: number;
  readonly to?: number;
  readonly count?: number;
}

/** The same in bytes of the heap, checked. */
export function byteRange<A extends NumberArray>(
  target: Symmetric<A>,
  source: Symmetric<A>,
  { from = 0, to = 0, count = source.length - from }: PutRange,
): { from: number; to: number; bytes: number } {
  const whole = [from, to, count].every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!whole || from + count > source.length || to + count > target.length) {
    throw new TypeError(
      `elements ${from}…${from + count} of ${source.length} do not fit ${to}…${to + count} of ${target.length}`,
    );
  }
  const size = source.local.BYTES_PER_ELEMENT;
  if (size !== target.local.BYTES_PER_ELEMENT) throw new TypeError('the arrays differ in type');
  return { from: source.offset + from * size, to: target.offset + to * size, bytes: count * size };
}
