import type { Row, Run } from './schema.js';

/** Matrices of more ranks are not shown pair by pair, and a run in memory has no samples of their pairs. */
export const mostRanksInFull = 128;

/** Whether the pairs of a run are too many to show each. */
export const isLarge = ({ ranks }: Pick<Run['world'], 'ranks'>): boolean => ranks > mostRanksInFull;

const noSamples: number[] = [];
const sharedParts = new Map<string, object>();

/** Equal parts of a million rows are one object. */
function shared<Part extends object>(part: Part): Part {
  const text = JSON.stringify(part);
  const found = sharedParts.get(text);
  if (found === undefined && sharedParts.size < 1000) sharedParts.set(text, part);
  return (found as Part | undefined) ?? part;
}

/** A row of a large matrix without what a million rows cannot hold: its samples, which the run file has. */
export function thin(row: Row): Row {
  const { gbps, busbwPercent } = row;
  const thinned = {
    ...row,
    samples: noSamples,
    lineGbps: row.lineGbps === gbps ? gbps : row.lineGbps,
    linePercent: row.linePercent === busbwPercent ? busbwPercent : row.linePercent,
    checked: shared(row.checked),
  };
  if (row.path) thinned.path = shared(row.path);
  return thinned;
}
