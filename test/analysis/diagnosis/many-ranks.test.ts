import { expect, test } from 'vitest';
import { CellTable, matrixMetrics, placesOf } from '../../../src/analysis/diagnosis/cells.js';
import { findSuspects } from '../../../src/analysis/diagnosis/suspects.js';
import { largeRun, slowPair, slowRank } from '../../results/large-run.js';

test('of forty thousand pairs, the slow rank and the slow pair are suspected', () => {
  const run = largeRun(200);
  const places = placesOf(run);
  const table = new CellTable(places, matrixMetrics);
  for (const row of run.rows) table.add(row);
  const matrix = { ...places, cells: table.cells };
  const suspects = findSuspects({ matrix, railCells: [], pace: [] });
  expect(suspects.map(({ kind, ranks }) => ({ kind, ranks }))).toEqual([
    { kind: 'pair', ranks: [slowPair.from, slowPair.to] },
    { kind: 'place', ranks: [slowRank] },
  ]);
});
