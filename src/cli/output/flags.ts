import { benchmarks } from '../../benchmarks/index.js';
import { optionsOf } from '../../runner/benchmark.js';
import { flagOf, type OptionTable } from '../../settings/option.js';
import { soakOptions } from '../../settings/soak.js';
import { specFlags } from '../lab-options.js';
import { showOptions } from '../show-options.js';

/** Of lab and serve, which have no table. */
const commandFlags = {
  ...specFlags,
  down: 'down',
  device: 'device',
  name: 'name',
  host: 'host',
  port: 'port',
};

const flagsIn = (table: OptionTable): [string, string][] =>
  Object.entries(table).map(([key, option]) => [key, flagOf(option)]);

/** The flags of all settings, by the keys that messages of the library name. */
const flags: ReadonlyMap<string, string> = new Map([
  ...Object.entries(commandFlags).map(([key, flag]) => [key, `--${flag}`] as const),
  ...flagsIn(showOptions),
  ...flagsIn(soakOptions),
  ...benchmarks.flatMap((benchmark) => flagsIn(optionsOf(benchmark))),
]);

/** A message of the library as someone at a command line should read it: `nics` becomes --nics. */
export const withFlags = (text: string): string =>
  text.replace(/`(\w+)`/g, (quoted, key: string) => flags.get(key) ?? quoted);
