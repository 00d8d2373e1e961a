import { formatBytes, sizeText } from '../measure/units.js';
import type { Run } from '../results/schema.js';

/** A name and what is said about it. */
export type Fact = readonly [string, string];

const settingNames: Readonly<Record<string, string>> = {
  budgetMs: 'Budget per row (ms)',
  warmup: 'Warm-up iterations',
  iters: 'Iterations requested',
  iterations: 'Iterations requested',
  stepFactor: 'Step factor',
  window: 'Chunks in flight per channel',
  windowReduced: 'Window reduced by the provider',
  lineRateGbps: 'Line rate given (Gbps)',
  timeoutMs: 'Timeout (ms)',
  check: 'Verification',
  buffers: 'Independent buffers',
  repeats: 'Repeats of the whole run',
  columns: 'Columns requested',
  against: 'Compared with',
  pattern: 'Pattern',
  pin: 'Pinning of ranks',
  authenticated: 'Ranks authenticated',
  attempt: 'Attempt of the Slurm job',
  nodes: 'Nodes',
  ranksPerNode: 'Ranks per node',
  faults: 'Slow NIC',
};

const sizeNames: Readonly<Record<string, string>> = {
  minBytes: 'Smallest size',
  maxBytes: 'Largest size',
  stepBytes: 'Step',
  chunkBytes: 'Chunk',
  msgBytes: 'Message',
};

/** Settings of a run in words; a benchmark's own options as a user types them. */
export const settingsOf = ({ settings, model }: Run): Fact[] =>
  Object.entries(settings)
    .filter(([, value]) => value !== null)
    .flatMap(([key, value]) => {
      const size = sizeNames[key];
      if (size !== undefined && typeof value === 'number') return [[size, sizeText(value)]];
      if (isGroup(value)) return Object.entries(value).flatMap(typedOption);
      if (Array.isArray(value) && value.some(isGroup)) return value.map((one) => listed(key, one));
      const name = settingNames[key];
      // Predictions have the options of the benchmark among the others.
      if (name === undefined && model) return typedOption([key, value]);
      return [[name ?? key, settingText(value)]];
    });

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `['--top-k', '8']`; none for a switch that is off. */
function typedOption([key, value]: [string, unknown]): Fact[] {
  if (value === null || value === false) return [];
  return [[flagOfKey(key), value === true ? 'on' : typedValue(key, value)]];
}

const otherFlags: Readonly<Record<string, string>> = {
  backends: '--backend',
  zipf: '--imbalance',
};

/** Options of benchmarks are named after their keys, with few exceptions. */
export const flagOfKey = (key: string): string =>
  otherFlags[key] ?? `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function typedValue(key: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => typedValue(key, one)).join(',');
  if (key === 'zipf') return `zipf:${value}`;
  if (typeof value === 'number' && key.endsWith('Bytes')) return formatBytes(value);
  return isGroup(value) ? wordsOf(value) : String(value);
}

const wordsOf = (group: Readonly<Record<string, unknown>>): string =>
  Object.entries(group)
    .map(([key, value]) => `${key} ${typedValue(key, value)}`)
    .join(', ');

const listed = (key: string, value: unknown): Fact => [
  settingNames[key] ?? key,
  isGroup(value) ? wordsOf(value) : settingText(value),
];

function settingText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}
