import { isEfa } from './classify.js';
import type { FoundDevice } from './found.js';

/**
 * A file cannot tell the rate of an EFA device: one generation runs at several. But machines with these numbers of
 * GPUs and EFA devices are known. Network bandwidth over number of EFA devices, as Amazon publishes both in "Amazon
 * EC2 instance types: accelerated computing".
 */
const machines = [
  { instance: 'p4d.24xlarge', gpu: 0x20b0, efas: 4, rateGbps: 100 },
  { instance: 'p4de.24xlarge', gpu: 0x20b2, efas: 4, rateGbps: 100 },
  { instance: 'p5.48xlarge', gpu: 0x2330, efas: 32, rateGbps: 100 },
  { instance: 'p5e.48xlarge', gpu: 0x2335, efas: 32, rateGbps: 100 },
  { instance: 'p5en.48xlarge', gpu: 0x2335, efas: 16, rateGbps: 200 },
  { instance: 'p6-b200.48xlarge', gpu: 0x2901, efas: 8, rateGbps: 400 },
] as const;

const gpusOfEach = 8;

/** Of the EFA devices of this machine, if it is one of the known ones. */
export function publishedEfaRate(
  devices: readonly FoundDevice[],
): { readonly instance: string; readonly rateGbps: number } | undefined {
  const efas = devices.filter(isEfa).length;
  const gpus = devices.filter(({ vendor }) => vendor === 0x10de);
  return machines.find(
    (one) =>
      one.efas === efas && gpus.filter(({ device }) => device === one.gpu).length === gpusOfEach,
  );
}
