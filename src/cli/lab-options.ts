import { type Command, Option } from 'commander';
import {
  defaultSpec,
  formatRate,
  type LabSpec,
  machines,
  parseMachine,
  parseMilliseconds,
  parsePercent,
  parseRate,
} from '../lab/index.js';
import { wholeNumber } from '../settings/option.js';
import { argument, parsed } from './options.js';

export const rate = parsed(parseRate);
export const percent = parsed(parsePercent);
const milliseconds = parsed(parseMilliseconds);
export const natural = argument(wholeNumber(0));

/** Options that say what a lab is; none has a default of commander's, so that we see whether any was given. */
export function addSpecOptions(command: Command): Command {
  const { hosts, nics, bitsPerSecond, mtu, queueMs, congestion } = defaultSpec;
  return command
    .option('--hosts <count>', `number of hosts (default: ${hosts})`, natural)
    .option('--nics <count>', `NICs per host (default: ${nics})`, natural)
    .option('--rate <rate>', `line rate per NIC (default: ${formatRate(bitsPerSecond)})`, rate)
    .option('--leaves <count>', 'leaf switches per rail, below one spine (default: none)', natural)
    .option('--spine-rate <rate>', 'rate of each leaf-spine link (default: unlimited)', rate)
    .option('--mtu <bytes>', `MTU of the rails (default: ${mtu})`, natural)
    .option('--queue <time>', `switch port queue length (default: ${queueMs}ms)`, milliseconds)
    .option('--congestion <name>', `TCP congestion control (default: ${congestion})`)
    .option('--delay <time>', 'one-way delay on every NIC (needs netem)', milliseconds)
    .option('--loss <percent>', 'random frame loss on every NIC (needs nft)', percent)
    .addOption(
      new Option('--efa [machine]', `emulated EFA: ${machines.map(({ id }) => id).join(', ')}`)
        .preset('p5')
        .argParser(parsed((text: string) => parseMachine(text).id)),
    );
}

/** The flags of a lab's settings, by key. */
export const specFlags = {
  hosts: 'hosts',
  nics: 'nics',
  bitsPerSecond: 'rate',
  leaves: 'leaves',
  spineBitsPerSecond: 'spine-rate',
  mtu: 'mtu',
  queueMs: 'queue',
  congestion: 'congestion',
  delayMs: 'delay',
  lossPercent: 'loss',
  efa: 'efa',
} satisfies Record<keyof LabSpec, string>;

/** As commander names the value of a flag. */
const camelCase = (flag: string): string =>
  flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The lab that was described; undefined where nothing was said of it. */
export function readSpec(raw: object): LabSpec | undefined {
  const values = new Map<string, unknown>(Object.entries(raw));
  const said = Object.entries(specFlags)
    .map(([key, flag]) => [key, values.get(camelCase(flag))] as const)
    .filter(([, value]) => value !== undefined);
  return said.length === 0 ? undefined : { ...defaultSpec, ...Object.fromEntries(said) };
}
