import type { Row } from '../../src/results/schema.js';
import { sampleRow } from '../results/fixtures.js';

export const M = 2 ** 20;

/** A row whose single-channel efficiency is `percent` of 100 Gbps. */
export const rowAt = (percent: number, bytes = 16 * M, column = 'SinglePin'): Row =>
  sampleRow({ column, bytes, us: (bytes * 8) / (percent * 1000), allowedGbps: 100 });
