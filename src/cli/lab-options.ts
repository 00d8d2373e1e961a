import type { Command } from 'commander';
import { z } from 'zod';
import {
  defaultSpec,
  formatRate,
  type LabSpec,
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
    .option('--mtu <bytes>', `MTU of the rails (default: ${mtu})`, natural)
    .option('--queue <time>', `switch port queue length (default: ${queueMs}ms)`, milliseconds)
    .option('--congestion <name>', `TCP congestion control (default: ${congestion})`)
    .option('--delay <time>', 'one-way delay on every NIC (needs netem)', milliseconds)
    .option('--loss <percent>', 'random frame loss on every NIC (needs nft)', percent);
}

const specSchema = z.object({
  hosts: z.number().optional(),
  nics: z.number().optional(),
  rate: z.number().optional(),
  mtu: z.number().optional(),
  queue: z.number().optional(),
  congestion: z.string().optional(),
  delay: z.number().optional(),
  loss: z.number().optional(),
});

/** The lab that was described; undefined where nothing was said of it. */
export function readSpec(raw: unknown): LabSpec | undefined {
  const { rate, queue, delay, loss, ...same } = specSchema.parse(raw);
  const said = Object.fromEntries(
    Object.entries({
      ...same,
      bitsPerSecond: rate,
      queueMs: queue,
      delayMs: delay,
      lossPercent: loss,
    }).filter(([, value]) => value !== undefined),
  );
  return Object.keys(said).length === 0 ? undefined : { ...defaultSpec, ...said };
}
