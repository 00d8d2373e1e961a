import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HistoryAnswer, Listing } from '../../src/live/wire.js';
import { indexName } from '../../src/results/run-index.js';
import { finish, PageDesk, row, Viewer } from './desk.js';
import { writeManyRuns } from './many-runs.js';

const json = async <T>(desk: PageDesk, path: string): Promise<T> =>
  JSON.parse((await desk.get(path)).text) as T;

describe('a folder of many runs', () => {
  test('is listed in pieces, newest first, with a trend for each run', async () => {
    await using desk = await PageDesk.open();
    writeManyRuns(desk.folder, { runs: 30, rows: 6, samples: 5 });
    const first = await json<Listing>(desk, '/api/runs?from=0&count=10');
    expect(first).toMatchObject({ total: 30, from: 0 });
    expect(first.runs).toHaveLength(10);
    expect(first.runs[0]!.trend).toHaveLength(24);
    const last = await json<Listing>(desk, '/api/runs?from=20&count=10');
    expect(last.runs.at(-1)!.header!.startedAt).toBe('2025-01-01T00:00:00.000Z');
    // The first of all has nothing to compare with.
    expect(last.runs.at(-1)!.trend).toBeUndefined();
    expect((await json<Listing>(desk, '/api/runs?from=x&count=-1')).runs).toHaveLength(30);
  });

  test('says the same from its index as from its files', async () => {
    await using desk = await PageDesk.open();
    writeManyRuns(desk.folder, { runs: 5, rows: 6, samples: 5 });
    const read = await json<Listing>(desk, '/api/runs');
    await using again = await PageDesk.open({ folder: desk.folder });
    expect(await json<Listing>(again, '/api/runs')).toEqual(read);
    rmSync(join(desk.folder, indexName));
    await using anew = await PageDesk.open({ folder: desk.folder });
    expect(await json<Listing>(anew, '/api/runs')).toEqual(read);
  });

  test('has a history with its change, and a chart for each row', async () => {
    await using desk = await PageDesk.open();
    writeManyRuns(desk.folder, { runs: 60, rows: 6, samples: 5 });
    writeFileSync(join(desk.folder, 'broken.jsonl'), 'nothing\n');
    const history = await json<HistoryAnswer>(desk, '/api/history');
    expect(history.answer).toContain('6 rows in 60 runs: 1 change');
    expect(history.places).toHaveLength(1);
    expect(history.events).toMatchObject([
      {
        text: '2 rows became 1.50× slower',
        changed: 'also changed: libfabric 1.17 → 1.22',
        worse: true,
      },
    ]);
    expect(history.charts[0]).toMatchObject({ kind: 'history' });
    const { id } = history.places[0]!.rows[1]!;
    const chart = await json(desk, `/api/history/row?${new URLSearchParams({ id })}`);
    expect(chart).toMatchObject({ id: 'history-row' });
    expect((await desk.get('/api/history/row?id=nothing')).status).toBe(404);
  });

  test('has a run in its history as soon as it has ended', async () => {
    await using desk = await PageDesk.open();
    desk.finished('one', [row(64)]);
    const file = desk.begin('two');
    file.append(row(64));
    using viewer = new Viewer(desk, '/api/runs/events?from=0&count=10');
    const last = () => viewer.events.at(-1)?.data as Listing | undefined;
    await viewer.until(() => last()?.runs.length === 2);
    finish(file);
    await viewer.until(() => last()?.runs[0]?.trend !== undefined);
    expect((await json<HistoryAnswer>(desk, '/api/history')).answer).toContain('1 row in 2 runs');
  });
});
