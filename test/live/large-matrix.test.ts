import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Lines } from '../../src/live/wire.js';
import { largeRun, linesOf, slowPair } from '../results/large-run.js';
import { PageDesk } from './desk.js';

test('a page gets the slowest pair of each block of a large matrix', async () => {
  await using desk = await PageDesk.open();
  writeFileSync(join(desk.folder, 'large.jsonl'), [...linesOf(largeRun(140))].join(''));
  const { text } = await desk.get('/api/runs/large/events');
  const events = [...text.matchAll(/event: lines\nid: \S+\ndata: (.*)\n/g)].map(
    ([, json]) => JSON.parse(json!) as Lines,
  );
  const lines = events.flatMap((event) => event.lines);
  const rows = lines.flatMap((line) => (line?.line === 'row' ? [line] : []));
  // 140 ranks in blocks of 2 × 2.
  expect(rows).toHaveLength(70 * 70);
  expect(lines[0]).toMatchObject({ line: 'header' });
  expect(lines.at(-1)).toMatchObject({ line: 'footer' });
  expect(events.at(-1)!.rows).toBe(140 * 139);
  const slowest = rows.find(({ labels }) => labels.from === 3 && labels.to === slowPair.to);
  expect(slowest).toMatchObject({ samples: [], nanoseconds: { p50: 300_000 } });
  expect(text).toContain('event: end');
});
