/**
 * The 32-bit immediate: [1 bit user][15 bits source rank][16 bits user value or plan slot]. A write of a plan has
 * the first bit clear. Zero is a valid immediate; "none" is another thing.
 */
export const maxRanks = 2 ** 15;
export const maxImmediate = 2 ** 16 - 1;
/** Bytes of completion data every immediate needs. */
export const immediateBytes = 4;

export function encodeUserImmediate(source: number, value: number): number {
  checkImmediate(value);
  return (0x80000000 | (source << 16) | value) >>> 0;
}

function checkImmediate(value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > maxImmediate) {
    throw new TypeError(`an immediate is a whole number from 0 to ${maxImmediate}, not ${value}`);
  }
}
