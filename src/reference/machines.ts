/** A kind of machine whose fabric is known. Rates are the vendor's, per NIC. */
export interface Machine {
  readonly name: string;
  readonly nicGbps: number;
  readonly nicsPerGpu: number;
  /** PCI device number of its 8 GPUs. */
  readonly gpu: number;
}

/**
 * AWS's instances with EFA: network bandwidth over the number of EFA devices, as Amazon publishes both in "Amazon EC2
 * instance types: accelerated computing" (read in November 2026).
 */
export const machines: readonly Machine[] = [
  { name: 'p4d.24xlarge', nicGbps: 100, nicsPerGpu: 0.5, gpu: 0x20b0 },
  { name: 'p4de.24xlarge', nicGbps: 100, nicsPerGpu: 0.5, gpu: 0x20b2 },
  { name: 'p5.48xlarge', nicGbps: 100, nicsPerGpu: 4, gpu: 0x2330 },
  { name: 'p5e.48xlarge', nicGbps: 100, nicsPerGpu: 4, gpu: 0x2335 },
  { name: 'p5en.48xlarge', nicGbps: 200, nicsPerGpu: 2, gpu: 0x2335 },
  { name: 'p6-b200.48xlarge', nicGbps: 400, nicsPerGpu: 1, gpu: 0x2901 },
];

export const gpusPerMachine = 8;

/** `p5` and `p5.48xlarge` are the same. */
export const machineByName = (name: string): Machine | undefined =>
  machines.find((machine) => machine.name === name || machine.name.split('.')[0] === name);
