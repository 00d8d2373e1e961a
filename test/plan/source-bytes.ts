import type { Plan } from '../../src/plan/plan.js';

/** What rank `rank` has at `offset` of what it sends: differs by rank, position and, if it is given, iteration. */
export const sourceByte = (rank: number, offset: number, iteration = 0): number =>
  (Math.imul(rank + 1, 0x9e3779b1) ^
    Math.imul(offset + 1, 0x85ebca6b) ^
    Math.imul(iteration, 0xc2b2ae35)) >>>
  24;

/** All that a rank's plan sends from. */
export const bytesToSend = ({ rank, sourceBytes }: Plan, iteration: number): Uint8Array =>
  Uint8Array.from({ length: sourceBytes }, (_, offset) => sourceByte(rank, offset, iteration));
