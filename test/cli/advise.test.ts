import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import { Desk } from '../benchmarks/weft.js';

const timeout = 120_000;
const desk = new Desk();
afterAll(() => desk[Symbol.dispose]());

/** Rows of a busy machine may be noisy, which advice leaves out; this is about the change. */
function calm(file: string): number {
  const path = join(desk.folder, file);
  const { rows } = readRun(path).run;
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"noisy":true', '"noisy":false'));
  return rows[0]!.nanoseconds!.p50;
}

const lab = join(import.meta.dirname, '../runner/advice-runs');

describe('weft advise RUN', () => {
  test('measures two settings, advises the faster one and --try repeats both in turns', {
    timeout,
  }, async () => {
    const line = 'write --provider shm -b 1M -e 1M -n 8 -w 1 --columns SinglePin --quiet';
    await desk.weft(`${line} --chunk 1K --out runs/1.jsonl`);
    await desk.weft(`${line} --out runs/2.jsonl`);
    // Two runs, one after the other: what else the machine did may have decided.
    const isFaster = calm('runs/2.jsonl') < calm('runs/1.jsonl');
    const [from, to] = isFaster ? ['1K', '64M'] : ['64M', '1K'];
    const seen = await desk.weft('advise runs');
    expect(seen.stderr).toBe('');
    expect(seen.stdout).toMatch(
      new RegExp(`^1\\. chunk: ${from} → ${to}, .*× as fast \\(.*\\), measured$`, 'm'),
    );
    expect(seen.stdout).toMatch(new RegExp(`^ {3}weft write .*--chunk ${to}`, 'm'));

    const said = await desk.weft('advise runs --try --rounds 5 --seed 1 --out tried --format json');
    const { schema, changes, tried } = JSON.parse(said.stdout);
    expect(schema).toBe('weft.advice/1');
    expect(changes[0]).toMatchObject({ what: 'chunk', benchmark: 'write', from, to });
    expect(tried).toMatchObject({ change: 0, rounds: 5, expected: changes[0].gain });
    // In turns, the larger chunk wins whatever the machine does.
    expect(tried.gain.factor > 1).toBe(isFaster);
    expect(readRun(join(desk.folder, 'tried/b/05.jsonl')).run.settings.chunkBytes).toBe(
      isFaster ? 2 ** 26 : 2 ** 10,
    );
  });

  test('text fits 100 columns but for commands, which stay on one line', { timeout }, async () => {
    const { stdout } = await desk.weft(`advise ${lab}`, { COLUMNS: '100' });
    expect(stdout).toMatch(/^What to change, the most valuable first:\n\n1\. /);
    expect(stdout).toContain('Predicted with the model fitted to these runs');
    for (const text of stdout.split('\n').filter((one) => !/^ +weft /.test(one))) {
      expect(text.length).toBeLessThanOrEqual(100);
    }
  });

  test.each([
    [`advise ${lab} --buffers 3`, '--buffers has no effect with run files'],
    ['advise --try', '--try has no effect without run files'],
    ['advise nowhere.jsonl', 'nowhere.jsonl does not exist'],
    ['advise .', '. contains no run files'],
    [`advise ${lab} --column SingleDMA`, 'no run has a column SingleDMA'],
  ])('%s is refused', { timeout }, async (line, message) => {
    const { exitCode, stderr } = await desk.weft(line);
    expect(stderr).toContain(message);
    expect(exitCode).not.toBe(0);
  });

  test('--try refuses a world that cannot be repeated here, and says how to name one', {
    timeout,
  }, async () => {
    const file = readFileSync(join(lab, 'write.jsonl'), 'utf8');
    const path = join(desk.folder, 'slurm.jsonl');
    writeFileSync(path, file.replace('"launcher":"local"', '"launcher":"srun"'));
    const { exitCode, stderr } = await desk.weft('advise slurm.jsonl --try');
    expect(stderr).toMatch(/--try cannot repeat run .*: srun started its ranks/);
    expect(stderr).toContain("--launch 'srun -N 4 -n 4'");
    expect(exitCode).toBe(2);
  });
});
