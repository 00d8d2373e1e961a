import { openGpu } from '../../gpu/gpu.js';
import { availableBytes } from '../../runner/memory-plan.js';
import type { Producers } from '../producers.js';

/** Left to everything else on the machine. */
const shareOfHost = 0.5;

/** What buffers may take on this rank's GPU or, without one, of its host's memory. */
export const availableForIpc = ({ gpu }: Producers): number =>
  gpu === undefined ? availableBytes() * shareOfHost : openGpu(gpu).freeBytes();
