import { kvFigures } from './kv-figures.js';
import { libefaxx } from './libefaxx.js';
import { moeFigures } from './moe-figures.js';
import { ncclOnP5 } from './nccl-p5.js';
import type { Publication } from './published.js';

/** Every published figure that results are placed beside. */
export const book: readonly Publication[] = [...libefaxx, ...ncclOnP5, ...moeFigures, ...kvFigures];
