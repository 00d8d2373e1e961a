import { WeftError } from '../errors.js';
import { extentOf } from './extent.js';

const unitBytes = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 } as const;
type Unit = keyof typeof unitBytes;

/**
 * A size as users write it: `4096`, `128K`, `4M`, `1.5G`; K, M, G and T are powers of two, in either
 * case, and may be followed by `B` or `iB`. `option` names the culprit in the error.
 */
export function parseBytes(text: string, option?: string): number {
  const name = option === undefined ? `"${text}"` : `${option}: "${text}"`;
  const match = /^(\d+(?:\.\d+)?)(?:([KMGT])(?:i?B)?|B)?$/i.exec(text.trim());
  if (match === null) {
    throw new WeftError('BAD_USAGE', `${name} is not a size`, {
      hint: 'Write a number of bytes, or one with K, M or G (powers of two): 65536, 128K, 1.5G.',
    });
  }
  const unit = match[2]?.toUpperCase() as Unit | undefined;
  const bytes = Number(match[1]) * (unit === undefined ? 1 : unitBytes[unit]);
  if (!Number.isInteger(bytes)) {
    throw new WeftError('BAD_USAGE', `${name} is not a whole number of bytes`, {
      hint: `The nearest sizes are ${Math.floor(bytes)} and ${Math.ceil(bytes)} bytes.`,
    });
  }
  if (!Number.isSafeInteger(bytes)) {
    throw new WeftError('BAD_USAGE', `${name} is too large`, {
      hint: 'The largest size is 8191T.',
    });
  }
  return bytes;
}

/** Exact: 131072 is `128K`, 1536 is `1.5K`, 1000 is `1000`. `parseBytes` reads every result back. */
export function formatBytes(bytes: number): string {
  for (const unit of ['T', 'G', 'M', 'K'] as const) {
    const inUnit = bytes / unitBytes[unit];
    // Quarters are as fine as a reader takes in at a glance; anything else falls to a smaller unit.
    if (inUnit >= 1 && Number.isInteger(inUnit * 4)) return `${inUnit}${unit}`;
  }
  return String(bytes);
}

/** A size in a sentence or a title: `128K`, `64 bytes`. */
export function sizeText(bytes: number): string {
  const text = formatBytes(bytes);
  return text === String(bytes) ? plural(bytes, 'byte') : text;
}

/** Rounded for reading: `1.4G`, `37.2M`; use `formatBytes` where the size must be exact. */
export function formatBytesRounded(bytes: number): string {
  for (const unit of ['T', 'G', 'M', 'K'] as const) {
    const inUnit = bytes / unitBytes[unit];
    // From here up one decimal rounds to a whole unit: `1024M` never shows.
    if (inUnit >= 1 - 0.05 / 1024) return `${Number(inUnit.toFixed(1))}${unit}`;
  }
  return String(bytes);
}

/** As counters of NICs are read: `12 MB`, `1.4 GB`; powers of ten. */
export function formatDecimalBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
  let power = 0;
  let value = bytes;
  for (; value >= 999.5 && power < units.length - 1; power++) value /= 1000;
  return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ${units[power]}`;
}

/** `1 row`, `2 rows`. */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

const unitMs = {
  ...{ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
} as const;

/** A time span as users write it: `8h`, `90s`, `1.5m`, `200ms`, `1h30m`; in milliseconds. */
export function parseDuration(text: string): number {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/gy)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text.trim()) {
    throw new WeftError('BAD_USAGE', `"${text}" is not a time span`, {
      hint: 'Write a number with ms, s, m, h, d or w: 200ms, 90s, 8h, 1h30m.',
    });
  }
  return parts.reduce(
    (sum, [, value, unit]) => sum + Number(value) * unitMs[unit as keyof typeof unitMs],
    0,
  );
}

/** The same written out, in the largest units that are whole: `8h`, `1h30m`, `90s` as `1m30s`. */
export function formatDuration(milliseconds: number): string {
  let left = Math.round(milliseconds);
  const parts: string[] = [];
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const count = Math.floor(left / unitMs[unit]);
    if (count > 0) parts.push(`${count}${unit}`);
    left -= count * unitMs[unit];
  }
  return parts.join('') || '0s';
}

/** `3`, `3 to 7`: of some values the least and the most, as they are written. */
export function rangeText(values: readonly number[], digits: number): string {
  const [least, most] = extentOf(values).map((v) => v.toFixed(digits));
  return least === most ? least! : `${least} to ${most}`;
}

/** 1e9 bits per second; a bit per nanosecond is the same. */
export const gbpsOf = (bytes: number, nanoseconds: number): number => (bytes * 8) / nanoseconds;

/** nccl-tests' GB/s: 1e9 bytes per second. */
export const gigabytesPerSecond = (bytes: number, nanoseconds: number): number =>
  bytes / nanoseconds;

export const nanosecondsAt = (bytes: number, rateGbps: number): number => (bytes * 8) / rateGbps;

export const microseconds = (nanoseconds: number): number => nanoseconds / 1000;

/** Four significant digits without trailing zeros, whole numbers in full: `66.54`, `1.2`, `12345`. */
export function significant(value: number): string {
  if (Math.abs(value) >= 10_000) return String(Math.round(value));
  return String(Number(value.toPrecision(4)));
}

/** `940 ns`, `66.54 us`, `2.677 ms`, `1.2 s`. */
export function formatNanoseconds(nanoseconds: number): string {
  // Each bound lies where four digits round up to the next unit, so `1000 us` never shows.
  if (nanoseconds < 999.95) return `${significant(nanoseconds)} ns`;
  if (nanoseconds < 999.95e3) return `${significant(nanoseconds / 1e3)} us`;
  if (nanoseconds < 999.95e6) return `${significant(nanoseconds / 1e6)} ms`;
  return `${significant(nanoseconds / 1e9)} s`;
}
