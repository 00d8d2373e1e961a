import type { FabricModel } from '../simulate/fabric-model.js';

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
    spread: { all2all: 0.0242, write: 0.00787, sendrecv: 0.0174 },
  },
};
