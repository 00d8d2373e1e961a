import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import { type Cell, deadlineOf, type Ending } from './cell.js';
import { plain, Scene, type Shown } from './scene.js';

/** What the table says of a cell. */
export interface Seen extends Pick<Shown, 'exit' | 'rows' | 'outcome'> {
  readonly message: string;
}

/** Puts a cell on stage and checks its end. */
export async function runCell(cell: Cell, lab: string): Promise<Seen> {
  try {
    return await onStage(cell, lab);
  } finally {
    await cell.fault.tidy?.(lab);
  }
}

async function onStage(cell: Cell, lab: string): Promise<Seen> {
  const { fault, ends } = cell;
  using scene = new Scene(cell, lab);
  await scene.prepare();
  scene.start();
  // A page is served until it is told to end; the fault strikes while it is.
  if (cell.phase !== 'serve') {
    if (fault.strike !== undefined || fault.after !== undefined) await scene.reached();
    await fault.strike?.(scene);
  }
  scene.place.goOn();
  await fault.after?.(scene);
  const shown = await scene.end(deadlineOf(cell));
  const said = plain(shown.said, scene);
  const end = ends.or?.exit === shown.exit ? ends.or : ends;
  expect(shown.exit, said).toBe(end.exit);
  if (shown.exit === 0 && end.file?.outcome.includes('passed')) {
    expect(shown).toMatchObject({ outcome: 'passed', rows: 2 });
  }
  for (const pattern of end.says) expect(said).toMatch(pattern);
  if (end.silent) expect(said).not.toMatch(end.silent);
  checkFile(scene, shown, end);
  await end.check?.(scene);
  scene.endVictim();
  await checkLeft(scene, cell);
  const [first] = end.says;
  const line = said.split('\n').find((one) => first?.test(one)) ?? '';
  const { exit, rows, outcome } = shown;
  return { exit, rows, outcome, message: line.replace(/^(weft|error): /, '').trim() };
}

function checkFile({ place }: Scene, { rows, outcome }: Shown, { file }: Ending): void {
  if (file === undefined) return void expect(outcome, 'no run file').toBeUndefined();
  expect(rows ?? 0, 'rows kept').toBe(file.rows);
  expect(file.outcome).toContain(outcome);
  if (file.says === undefined || outcome !== 'aborted') return;
  const { run } = readRun(place.runFile);
  expect(run.errors.map(({ message }) => message).join('\n')).toMatch(file.says);
}

/** Processes may take a moment to be gone after the one that was waited for. */
async function checkLeft({ place }: Scene, { phase, ends }: Cell): Promise<void> {
  const { sweptByNextRun = false } = ends;
  for (let tries = 0; tries < 50 && place.leftovers().length > 0; tries++) await sleep(20);
  if (sweptByNextRun) {
    const small = ['write', '-b', '4K', '-e', '4K', '--ranks', '2', '-n', '1'];
    const job = [...small, '--out', `${place.results}/second.jsonl`];
    const next = place.weft(phase === 'renaming' ? ['report', place.runFile] : job);
    expect((await next.finished).code).toBe(0);
  }
  expect(place.leftovers()).toEqual([]);
}
