import type { Run } from '../../results/schema.js';
import type { Lines, RunState, Standing, WireLine } from '../wire.js';
import { showConnection, showConnectionOf } from './connection.js';

export interface LiveRun {
  readonly run: Run | undefined;
  /** In its file: of a large matrix, `run` has the slowest pairs only. */
  readonly rows: number;
  readonly state: RunState;
  readonly problem: string | undefined;
  /** Changes when earlier rows are void. */
  readonly epoch: number;
}

/**
 * Follows a run by server-sent events until its end. After a lost connection the browser asks for what comes after
 * the last event it has; lines that are here already are not taken twice. Returns the function that stops it.
 */
export function followRun(key: string, changed: (live: LiveRun) => void): () => void {
  const source = new EventSource(`/api/runs/${encodeURIComponent(key)}/events`);
  let have = 0;
  let live: LiveRun = { run: undefined, rows: 0, state: 'running', problem: undefined, epoch: 0 };
  const update = (changes: Partial<LiveRun>) => {
    live = { ...live, ...changes };
    changed(live);
  };
  showConnectionOf(source);
  source.addEventListener('reset', () => {
    have = 0;
    update({ run: undefined, state: 'running', problem: undefined, epoch: live.epoch + 1 });
  });
  source.addEventListener('lines', ({ data }: MessageEvent<string>) => {
    const { from, next, rows, lines } = JSON.parse(data) as Lines;
    // Lines that were chosen come from where the page left off, or not at all.
    const chosen = next - from > lines.length;
    const fresh = chosen && from < have ? [] : lines.slice(Math.max(0, have - from));
    have = Math.max(have, next);
    update({ run: fresh.reduce(withLine, live.run), rows });
  });
  const stand = ({ data }: MessageEvent<string>) => {
    const { state, problem } = JSON.parse(data) as Standing;
    update({ state, problem });
  };
  source.addEventListener('state', stand);
  source.addEventListener('end', (event: MessageEvent<string>) => {
    source.close();
    showConnection('done');
    stand(event);
  });
  return () => source.close();
}

function withLine(run: Run | undefined, read: WireLine | null): Run | undefined {
  if (read?.line === 'header') {
    const { line: _, ...header } = read;
    return { ...header, endedAt: null, outcome: 'aborted', rows: [], errors: [] };
  }
  if (run === undefined || read === null) return run;
  const { line: _, ...content } = read;
  if ('endedAt' in content) return { ...run, ...content };
  run.rows.push(content);
  return run;
}
