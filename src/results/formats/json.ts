import type { Run } from '../schema.js';

/** One object, indented, with lists of numbers on one line: samples are many. */
export function formatJson(run: Run): string {
  const { schema, id, benchmark, startedAt, endedAt, outcome, ...rest } = run;
  return `${written({ schema, id, benchmark, startedAt, endedAt, outcome, ...rest }, '')}\n`;
}

function written(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) {
      return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    }
    return `[\n${value.map((item) => inner + written(item, inner)).join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  if (entries.length === 0) return '{}';
  const lines = entries.map(
    ([key, item]) => `${inner}${JSON.stringify(key)}: ${written(item, inner)}`,
  );
  return `{\n${lines.join(',\n')}\n${indent}}`;
}
