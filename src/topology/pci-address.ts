const written = /^(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])$/i;

/**
 * A PCI address as the kernel writes it, `0000:4f:00.0`, from any way of writing it: upper case, without its domain,
 * or with more zeros, as CUDA and NVML do. Undefined when it is none.
 */
export function pciAddress(text: string): string | undefined {
  const match = written.exec(text.trim());
  if (match === null) return undefined;
  const [, domain = '0', bus, device, fn] = match;
  const hex = (digits: string, width: number) =>
    Number.parseInt(digits, 16).toString(16).padStart(width, '0');
  return `${hex(domain, 4)}:${hex(bus!, 2)}:${hex(device!, 2)}.${fn}`;
}

/** By domain, bus, device and function, as numbers: domain `10000` comes after `ffff`. */
export function comparePci(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (const [i, value] of left.entries()) {
    const difference = value - (right[i] ?? -1);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const numbersOf = (address: string): number[] =>
  address.split(/[:.]/).map((part) => Number.parseInt(part, 16));

/** `0000:4f` of `0000:4f:00.0`: functions and virtual functions of one card are on one bus. */
export const busOf = (address: string): string => address.slice(0, address.lastIndexOf(':'));
