import type { Cell } from './cell.js';
import { launchedCells } from './launched.js';
import { networkCells } from './network.js';
import { reportCells } from './reports.js';
import { serveCells } from './serves.js';
import { signalCells } from './signals.js';
import { surroundingCells } from './surroundings.js';

/** The fault matrix: every cell, in the order of docs/reliability.md. */
export const cells: readonly Cell[] = [
  ...signalCells,
  ...launchedCells,
  ...networkCells,
  ...surroundingCells,
  ...reportCells,
  ...serveCells,
];
