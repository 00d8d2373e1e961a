import type { FabricModel } from '../simulate/fabric-model.js';

/**
 * A lab (`weft lab`) at 100mbit per NIC with the default MTU and queues, fitted to the rows of lab-rows.ts, all from 2
 * hosts. docs/model.md says which rows were used; a test repeats the fit.
 */
export const labFabric: FabricModel = {
  schema: 'weft.fabric/1',
  name: 'lab',
  source: 'fitted to runs of Weft in its lab, 2 hosts × 4 NICs at 100mbit',
  nicsPerRank: 4,
  lineRateGbps: 0.1,
  gpus: false,
  chunkBytes: 2 ** 20,
  parameters: {
    nicGbps: 0.0997621,
    writeMicroseconds: 75.2605,
    sendMicroseconds: 25.5807,
    chunkMicroseconds: 0,
    splitMicroseconds: 34.9324,
    duplexEfficiency: 0.991979,
    hostMicroseconds: 0,
  },
  fit: {
    rows: 13,
    intervals: {
      nicGbps: [0.099219, 0.100308],
      writeMicroseconds: [73.9545, 76.5896],
      sendMicroseconds: [24.947, 26.2305],
      splitMicroseconds: [34.0968, 35.7886],
      duplexEfficiency: [0.978476, 1],
    },
    spread: { write: 0.00369, sendrecv: 0.0177, all2all: 0.00456 },
  },
};
