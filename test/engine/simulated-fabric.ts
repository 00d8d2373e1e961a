import type { FabricModel } from '../../src/simulate/fabric-model.js';
import type { SimulatedWorld } from '../../src/simulate/wiring.js';

export const mebibyte = 2 ** 20;
const fabric: FabricModel = {
  schema: 'weft.fabric/1',
  name: 'test',
  source: 'round numbers',
  nicsPerRank: 4,
  lineRateGbps: 100,
  chunkBytes: mebibyte,
  parameters: {
    nicGbps: 80,
    writeMicroseconds: 40,
    sendMicroseconds: 60,
    chunkMicroseconds: 1,
    splitMicroseconds: 5,
    duplexEfficiency: 0.8,
    hostMicroseconds: 0,
  },
};
/** 80 Gbps are 10 bytes per nanosecond. */
export const line = (bytes: number): number => bytes / 10;

export const simOf = (nodes: number, more: Partial<SimulatedWorld> = {}): SimulatedWorld => ({
  fabric,
  nodes,
  ranksPerNode: 1,
  memory: 'device',
  ...more,
});
export const withParameters = (more: Partial<FabricModel['parameters']>): FabricModel => ({
  ...fabric,
  parameters: { ...fabric.parameters, ...more },
});
