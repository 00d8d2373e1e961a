import { WeftError } from '../errors.js';
import { parseMachine } from './efa/parse.js';
import type { LabSpec } from './state.js';

/** Deep queues and jumbo frames: the lab stands for a fabric that does not drop. */
export const defaultSpec: LabSpec = {
  hosts: 4,
  nics: 4,
  bitsPerSecond: 250e6,
  mtu: 9000,
  queueMs: 500,
  congestion: 'cubic',
};

export const mostHosts = 64;
const mostNics = 16;

/** A bucket hands out its burst at wire speed after every idle moment: no more than the shaper needs. */
export const burstBytes = (mtu: number): number => 2 * mtu + 2048;

const multiples: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9 };

/** As tc writes rates: `250mbit`, `1gbit`. */
export function parseRate(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([kmg]?)bit$/i.exec(text.trim());
  if (!match) throw bad(`"${text}" is not a rate`, 'Write it with a unit: 250mbit, 1gbit.');
  const bits = Math.round(Number(match[1]) * multiples[match[2]!.toLowerCase()]!);
  if (bits >= 1000 && bits <= 100e9) return bits;
  throw bad(`the rate ${text} is out of range`, 'Use 1kbit to 100gbit.');
}

export function formatRate(bitsPerSecond: number): string {
  for (const unit of ['g', 'm', 'k']) {
    const inUnit = bitsPerSecond / multiples[unit]!;
    if (inUnit >= 1) return `${Number(inUnit.toFixed(3))}${unit}bit`;
  }
  return `${bitsPerSecond}bit`;
}

/** `500ms`, `2s`, `0.1ms`. */
export function parseMilliseconds(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(us|ms|s)$/.exec(text.trim());
  if (!match) throw bad(`"${text}" is not a time`, 'Write it with a unit: 200us, 2ms, 1s.');
  const ms = Number(match[1]) * { us: 1e-3, ms: 1, s: 1e3 }[match[2] as 'ms']!;
  if (ms > 0 && ms <= 60_000) return ms;
  throw bad(`the time ${text} is out of range`, 'Use more than 0, and at most 60s.');
}

/** `2%`, or `2` for the same. Without the sign, a number below 1 could also be a share: that is refused. */
export function parsePercent(text: string): number {
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text.trim());
  if (!match) throw bad(`"${text}" is not a percentage`, 'Write it as 2, 2% or 0.01%.');
  const value = Number(match[1]);
  if (value > 100) throw bad(`${value} % is out of range`, 'Use 0 to 100 percent.');
  if (match[2] === '%' || value === 0 || value >= 1) return value;
  const share = Number((value * 100).toPrecision(6));
  throw bad(`"${text}" could mean ${value} % or ${share} %`, `Write ${value}% or ${share}%.`);
}

export function checkSpec(spec: LabSpec): LabSpec {
  const whole = (key: string, value: number, least: number, most: number) => {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    throw bad(
      `\`${key}\` ${value} is out of range`,
      `Use a whole number from ${least} to ${most}.`,
    );
  };
  whole('hosts', spec.hosts, 1, mostHosts);
  whole('nics', spec.nics, 1, mostNics);
  if (spec.efa !== undefined) {
    const { instance, efas } = parseMachine(spec.efa);
    if (spec.nics > efas.length) {
      throw bad(`a ${instance} has only ${efas.length} EFA devices`, 'Use fewer `nics`.');
    }
  }
  if (spec.leaves !== undefined) whole('leaves', spec.leaves, 2, spec.hosts);
  if (spec.spineBitsPerSecond !== undefined && spec.leaves === undefined) {
    throw bad('`spineBitsPerSecond` has no effect without `leaves`', 'Add `leaves`.');
  }
  whole('mtu', spec.mtu, 576, 65_535);
  return spec;
}

export function checkName(name: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,30}$/.test(name)) return name;
  throw bad(
    `"${name}" is not a valid lab name`,
    'Use lower-case letters, digits and dashes; at most 31.',
  );
}

const bad = (message: string, hint: string) => new WeftError('BAD_USAGE', message, { hint });
