import { type Command, Option } from 'commander';
import { z } from 'zod';
import { defaultSettings } from '../runner/settings.js';
import type { FabricSettings } from '../session/fabric-settings.js';
import { names, numbers, positive, rate, someBytes } from './option-parsers.js';

/** Options of every command that opens a fabric. */
export function addFabricOptions(command: Command): Command {
  return command
    .option('--chunk <size>', 'cut transfers into pieces of this size', someBytes)
    .option('--window <count>', 'pieces in flight per channel', positive)
    .option(
      '--timeout <seconds>',
      'give up when nothing ends for this long',
      rate,
      defaultSettings.timeoutMs / 1000,
    )
    .addOption(
      new Option('--pin <how>', 'ranks to cores').choices(['auto', 'none']).default('auto'),
    )
    .option('--provider <name>', 'efa, verbs, shm, tcp, net, … (default: the best there is)')
    .option('--gpu <numbers>', 'GPUs that local ranks take in turn (default: all)', numbers)
    .option('--nics <names>', 'interfaces or RDMA devices, one channel each', names)
    .option('--channels <count>', 'endpoints per rank (default: one per NIC)', positive)
    .option('--line-rate <gbps>', 'of each channel, where it cannot be read', rate);
}

const fabricSchema = z.object({
  chunk: z.number().optional(),
  window: z.number().optional(),
  timeout: z.number(),
  pin: z.enum(['auto', 'none']),
  provider: z.string().optional(),
  gpu: z.array(z.number()).optional(),
  nics: z.array(z.string()).optional(),
  channels: z.number().optional(),
  lineRate: z.number().optional(),
});

export function readFabricOptions(raw: unknown): FabricSettings {
  const { chunk, timeout, lineRate, gpu, ...rest } = fabricSchema.parse(raw);
  return {
    ...rest,
    timeoutMs: Math.ceil(timeout * 1000),
    ...(chunk !== undefined && { chunkBytes: chunk }),
    ...(lineRate !== undefined && { lineRateGbps: lineRate }),
    ...(gpu !== undefined && { gpus: gpu }),
  };
}
