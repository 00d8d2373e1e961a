import { sizeText } from '../../measure/units.js';
import type { Headline } from '../../results/headline.js';
import { gbpsText } from '../../results/row-figures.js';
import type { RunSummary } from '../wire.js';

export const none = '–';

export const dateText = (iso: string): string =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const fixed = (value: number | null | undefined, digits: number): string =>
  value === null || value === undefined ? none : value.toFixed(digits);

export const percent = (value: number | null): string => fixed(value, 1);
export const micros = (nanoseconds: number | undefined): string =>
  fixed(nanoseconds === undefined ? undefined : nanoseconds / 1000, 2);

/** A queue counts messages, not bytes. */
export function rateText({ gbps, mops }: { gbps?: number | null; mops?: number }): string {
  if (mops !== undefined) return `${mops.toFixed(2)} Mops/s`;
  return gbps == null ? none : `${gbpsText(gbps)} Gbps`;
}

export function headlineText(headline: Headline): string {
  const { column, bytes } = headline;
  return `${rateText(headline)} ${column}${bytes === null ? '' : ` ${sizeText(bytes)}`}`;
}

export const runAddress = (key: string): string => `/run/${encodeURIComponent(key)}`;

export const nameOf = ({ header, key }: RunSummary): string => header?.benchmark ?? key;
