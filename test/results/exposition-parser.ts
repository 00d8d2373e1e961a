/** A strict reader of Prometheus' text format, version 0.0.4: throws at whatever the server would refuse. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const number = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|NaN|[+-]?Inf)$/;

export function parseExposition(text: string): ParsedSample[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const samples: ParsedSample[] = [];
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const seen = new Set<string>();
  let family: string | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (helps.has(name!)) throw new Error(`a second HELP of ${name}`);
      helps.add(name!);
    } else if (kind === 'TYPE') {
      if (types.has(name!)) throw new Error(`a second TYPE of ${name}`);
      if (samples.some((sample) => sample.name === name)) throw new Error(`a late TYPE of ${name}`);
      if (rest !== 'gauge') throw new Error(`not a type: ${rest}`);
      types.set(name!, rest);
      family = name;
    } else {
      const sample = parseSample(line);
      if (sample.name !== family) throw new Error(`${sample.name} is not in its family`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw new Error(`twice the same sample: ${line}`);
      seen.add(key);
      samples.push(sample);
    }
  }
  for (const name of types.keys()) if (!helps.has(name)) throw new Error(`no HELP of ${name}`);
  return samples;
}

function parseSample(line: string): ParsedSample {
  const [, name = '', inner, value = ''] = /^([^{\s]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (!metricName.test(name)) throw new Error(`not a sample: ${line}`);
  if (!number.test(value)) throw new Error(`not a number: ${line}`);
  return { name, labels: inner === undefined ? {} : parseLabels(inner), value: Number(value) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const found = /^([^=]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(rest);
    if (found === null || !labelName.test(found[1]!)) throw new Error(`bad labels: ${rest}`);
    if (found[1]! in labels) throw new Error(`twice the label ${found[1]}`);
    labels[found[1]!] = found[2]!.replace(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
    rest = rest.slice(found[0].length);
  }
  return labels;
}
