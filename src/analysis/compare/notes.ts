import { type Comparison, fewestBlocks } from './compare.js';

export function notesOf({ method, blocks, tolerance, warnings }: Comparison): string[] {
  const percent = `${Number((tolerance * 100).toFixed(2))} %`;
  const counts = `${blocks[0]} blocks of A and ${blocks[1]} of B`;
  const finer = `to detect smaller ones, run A and B alternately, ${fewestBlocks} times each, and name all files`;
  const how = {
    'in turns': `${counts}, measured alternately (permutation test); differences up to ${percent} count as the same`,
    apart: `${counts}, one side after the other: the machine may have changed in between, so only differences above ${percent} count; ${finer}`,
    single: `too few repeats to know how much runs vary, so only differences above ${percent} count; ${finer}`,
  }[method];
  return [...warnings.map((warning) => `different set-up: ${warning}`), how];
}
