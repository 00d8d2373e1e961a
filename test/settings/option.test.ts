import { describe, expect, test } from 'vitest';
import { formatValue, isSwitch, type Option, readValue } from '../../src/settings/option.js';
import { commonOptions } from '../../src/settings/table.js';

describe('a value of the command line', () => {
  test.each<[keyof typeof commonOptions, string, unknown]>([
    ['gpus', '3, 0', [3, 0]],
    ['nics', 'eth0, eth1', ['eth0', 'eth1']],
    ['minBytes', '256K', 262_144],
    ['timeoutMs', '1.5', 1500],
    ['timeoutMs', '604800', 604_800_000],
    ['check', '0', false],
    ['pin', 'none', 'none'],
    ['stepFactor', '1.5', 1.5],
    ['warmup', '0', 0],
  ])('%s takes %j', (key, text, value) => {
    expect(commonOptions[key].kind.parse(text)).toEqual(value);
  });

  test.each<[keyof typeof commonOptions, string, RegExp]>([
    ...['', '0,', 'all', '-1', '1.5'].map((text): [keyof typeof commonOptions, string, RegExp] => [
      'gpus',
      text,
      /separated by commas/,
    ]),
    ['iterations', '0', /1 or more/],
    ['iterations', '', /1 or more/],
    ['stepFactor', '1', /above 1/],
    ['chunkBytes', '0', /more than 0/],
    ['timeoutMs', '604801', /at most a week/],
    ['timeoutMs', '2147484', /at most a week/],
    ['check', 'yes', /0 or 1/],
    ['pin', 'some', /auto or none/],
    ['nics', 'eth0,', /names separated by commas/],
  ])('%s refuses %j', (key, text, why) => {
    expect(() => commonOptions[key].kind.parse(text)).toThrow(why);
  });
});

describe('a value of a file', () => {
  const read = (key: keyof typeof commonOptions, value: unknown) =>
    readValue(commonOptions[key] as Option, value);

  test.each<[keyof typeof commonOptions, unknown, unknown]>([
    ['minBytes', '1M', 2 ** 20],
    ['minBytes', 65_536, 65_536],
    ['columns', ['SinglePin'], ['SinglePin']],
    ['gpus', [0, 2], [0, 2]],
    ['check', false, false],
    ['timeoutMs', 5000, 5000],
  ])('%s takes %j', (key, value, expected) => {
    expect(read(key, value)).toEqual(expected);
  });

  test.each<[keyof typeof commonOptions, unknown]>([
    ['check', 1],
    ['channels', true],
    ['window', { a: 1 }],
    ['iterations', -1],
  ])('%s refuses %j', (key, value) => {
    expect(() => read(key, value)).toThrow(/must be/);
  });
});

test('every default can be given on the command line as help shows it', () => {
  for (const option of Object.values<Option>(commonOptions)) {
    if (option.default === undefined || isSwitch(option)) continue;
    expect(option.kind.parse(formatValue(option, option.default))).toEqual(option.default);
  }
});
