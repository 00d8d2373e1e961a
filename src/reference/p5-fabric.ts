import type { FabricModel } from '../simulate/fabric-model.js';
import type { Machine } from './machines.js';

/**
 * Four EFA devices of one GPU of a p5.48xlarge, fitted to the rows of p5-rows.ts with all-to-all rows read as those of
 * 8 nodes. docs/model.md says why, and which rows were used; a test repeats the fit.
 */
export const p5Fabric: FabricModel = {
  schema: 'weft.fabric/1',
  name: 'p5',
  source: 'fitted to the result tables of Libefaxx for p5.48xlarge',
  nicsPerRank: 4,
  lineRateGbps: 100,
  chunkBytes: 2 ** 20,
  parameters: {
    nicGbps: 97.4549,
    writeMicroseconds: 44.7584,
    sendMicroseconds: 62.6235,
    chunkMicroseconds: 0.703316,
    splitMicroseconds: 4.42284,
    duplexEfficiency: 0.877429,
    hostGbps: 184.428,
    hostMicroseconds: 1962.91,
  },
  fit: {
    rows: 52,
    intervals: {
      nicGbps: [97.191, 97.7195],
      writeMicroseconds: [44.2796, 45.2423],
      sendMicroseconds: [61.8275, 63.4296],
      chunkMicroseconds: [0.385953, 1.28164],
      splitMicroseconds: [4.19291, 4.66538],
      duplexEfficiency: [0.867536, 0.887435],
      hostGbps: [181.831, 187.063],
      hostMicroseconds: [1895.73, 2032.48],
    },
    spread: { all2all: 0.0289, write: 0.00807, sendrecv: 0.0175 },
  },
};

/**
 * p5's model with NICs of another machine's rate. Nothing is published for those machines: fixed costs are taken to be
 * the same, and NICs to reach the same share of their rate.
 */
export function p5FabricAt({ nicGbps }: Pick<Machine, 'nicGbps'>): FabricModel {
  const factor = nicGbps / p5Fabric.lineRateGbps;
  if (factor === 1) return p5Fabric;
  const { fit: _, ...model } = p5Fabric;
  const { parameters } = model;
  return {
    ...model,
    name: `p5 at ${nicGbps} Gbps per NIC`,
    lineRateGbps: nicGbps,
    parameters: { ...parameters, nicGbps: factor * parameters.nicGbps },
  };
}
