import { describe, expect, test } from 'vitest';
import { topologyOf } from '../../src/lab/leaves.js';
import { labOfSpace, spacesOf } from '../../src/lab/names.js';
import {
  burstBytes,
  checkName,
  checkSpec,
  defaultSpec,
  formatRate,
  parseMilliseconds,
  parsePercent,
  parseRate,
} from '../../src/lab/spec.js';
import { readNetwork } from '../../src/topology/network/read.js';

describe('what a lab is to be', () => {
  test.for([
    ['250mbit', 250e6],
    ['1Gbit', 1e9],
    ['1.5mbit', 1.5e6],
    ['64kbit', 64e3],
  ] as const)('the rate %s', ([text, bits]) => {
    expect(parseRate(text)).toBe(bits);
    expect(parseRate(formatRate(bits))).toBe(bits);
  });

  test.for(['', '250', '250mb', '-1mbit', '1tbit', '250 mbit;'])('"%s" is no rate', (text) => {
    expect(() => parseRate(text)).toThrow(/is not a rate/);
  });

  test('times have units', () => {
    expect(parseMilliseconds('200us')).toBe(0.2);
    expect(parseMilliseconds('2s')).toBe(2000);
    expect(() => parseMilliseconds('5')).toThrow(/not a time/);
  });

  test('a loss is a percentage, with or without its sign', () => {
    expect(['2', '2%', '2 %', '1.5', '0', '100'].map(parsePercent)).toEqual([2, 2, 2, 1.5, 0, 100]);
    expect(['0.01%', '.5%'].map(parsePercent)).toEqual([0.01, 0.5]);
    for (const text of ['', '%', '2%%', '-1', 'two', '1e2']) {
      expect(() => parsePercent(text)).toThrow(/is not a percentage/);
    }
  });

  test('a number below 1 without the sign could be a share, so it is refused', () => {
    expect(() => parsePercent('0.02')).toThrow('"0.02" could mean 0.02 % or 2 %');
    expect(() => parsePercent('.5')).toThrow('".5" could mean 0.5 % or 50 %');
  });

  test('what is out of range is not called malformed', () => {
    expect(() => parsePercent('101%')).toThrow(/out of range/);
    expect(() => parseRate('0mbit')).toThrow(/out of range/);
    expect(() => parseRate('200gbit')).toThrow(/out of range/);
    expect(() => parseMilliseconds('0ms')).toThrow(/out of range/);
  });

  test.for([
    [{ hosts: 0 }, /`hosts` 0/],
    [{ hosts: 1000 }, /`hosts` 1000/],
    [{ nics: 1.5 }, /`nics` 1.5/],
    [{ mtu: 100 }, /`mtu` 100/],
    [{ leaves: 5 }, /`leaves` 5/],
    [{ leaves: 1 }, /`leaves` 1/],
    [{ spineBitsPerSecond: 1e8 }, /no effect without `leaves`/],
  ] as const)('%o is refused', ([part, message]) => {
    expect(() => checkSpec({ ...defaultSpec, ...part })).toThrow(message);
  });

  test.for(['', 'Lab', '../x', 'a.b', '-a', 'x'.repeat(40)])('"%s" is no name', (name) => {
    expect(() => checkName(name)).toThrow(/not a valid lab name/);
  });

  test('the burst is two frames and a little', () => {
    expect(burstBytes(9000)).toBe(20_048);
  });

  test('a lab describes its leaves as pairs reads them, neighbours together', () => {
    const { hosts } = readNetwork(topologyOf(5, 2), 'lab');
    const places = hosts.map(({ names: [name], leaf, spine }) => `${name} ${leaf} ${spine}`);
    const [first, second] = ['leaf0 spine0', 'leaf1 spine0'];
    expect(places).toEqual([
      `h0 ${first}`,
      `h1 ${first}`,
      `h2 ${first}`,
      `h3 ${second}`,
      `h4 ${second}`,
    ]);
  });

  test('a namespace tells its lab, and those of others none', () => {
    for (const space of spacesOf('a-1', 2)) expect(labOfSpace(space)).toBe('a-1');
    expect(['weft-1-1', 'h0', 'weft-lab.x', 'weft-lab.x.h0.y'].map(labOfSpace)).toEqual(
      Array(4).fill(undefined),
    );
  });
});
