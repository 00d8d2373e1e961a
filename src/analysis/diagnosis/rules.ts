import type { Rule } from './explain-cells.js';

/** Bandwidth: 12 % less than the healthy. */
export const slowRule: Rule = { leastNoise: 0.02, leastEffect: -Math.log(0.88) };
/** The median latency: half as much again and more. Ways through a fabric differ, and so do hosts. */
export const lateRule: Rule = { leastNoise: 0.1, leastEffect: Math.log(1.6) };
/** The mean latency: three times as much. It has every stall in it, so it is loud. */
export const stallRule: Rule = { leastNoise: 0.25, leastEffect: Math.log(3) };
/** Segments sent again, as 1 + n: from 4 up. One or two come from a busy host’s late acknowledgements. */
export const lossRule: Rule = { leastNoise: 0.35, leastEffect: Math.log(5) };
