import { type Comparison, fewestBlocks } from './compare.js';

/** What the reader must know of how it was judged. */
export function notesOf({ method, blocks, tolerance, warnings }: Comparison): string[] {
  const percent = `${Number((tolerance * 100).toFixed(2))} %`;
  const counts = `${blocks[0]} against ${blocks[1]} blocks`;
  const finer = `to see smaller ones measure A and B in turns, ${fewestBlocks} runs each, and name them all`;
  const how = {
    'in turns': `${counts} in turns, permuted; a row differs by more than ${percent} or is the same`,
    apart: `${counts}, one side after the other: what the machine did meanwhile is not known, so only differences above ${percent} are judged; ${finer}`,
    single: `too few repeats to know how runs differ by themselves, so only differences above ${percent} are judged; ${finer}`,
  }[method];
  return [...warnings.map((warning) => `not the same set-up: ${warning}`), how];
}
