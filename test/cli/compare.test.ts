import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';

const short = 'write --provider shm -b 4K -e 16K -f 4 --columns SinglePin --budget-ms 5 --quiet';

/** The same run as if every iteration of a row had taken `factor` times as long as its first. */
function slowed(text: string, factor: number, id: string): string {
  const lines = text.replace(/"id":"[^"]*"/, `"id":"${id}"`).split('\n');
  return lines
    .map((line) => {
      if (!line.startsWith('{"line":"row"')) return line;
      const { samples, batch, nanoseconds, ...row } = JSON.parse(line);
      const time = Math.round(factor * samples[0]);
      const p50 = time / batch;
      const all = { samples: samples.map(() => time), nanoseconds: { ...nanoseconds, p50 } };
      return JSON.stringify({ ...row, batch, ...all });
    })
    .join('\n');
}

test('repeats are measured on new connections; those of two runs prove nothing', {
  timeout: 60_000,
}, async () => {
  using desk = new Desk();
  await desk.weft(`${short} --repeats 5 --out a.jsonl`);
  const text = readFileSync(join(desk.folder, 'a.jsonl'), 'utf8');
  writeFileSync(join(desk.folder, 'a.jsonl'), slowed(text, 1, 'a'));
  writeFileSync(join(desk.folder, 'b.jsonl'), slowed(text, 2, 'b'));
  const table = await desk.weft('compare a.jsonl b.jsonl');
  expect(table.exitCode).toBe(0);
  expect(table.stdout).toMatch(
    /^write: 2 of 2 rows look 2\.0× slower; single runs cannot prove it/,
  );
  expect(table.stdout).toContain(
    "): weft ab --a '…' --b '…' -- write -b 4K -e 16K -f 4 --budget-ms 5 --columns SinglePin",
  );
  expect((await desk.weft('compare a.jsonl b.jsonl --strict')).exitCode).toBe(4);
  expect((await desk.weft('compare b.jsonl a.jsonl --strict')).exitCode).toBe(0);
  expect((await desk.weft('compare a.jsonl b.jsonl --drift 50')).exitCode).toBe(4);
  const json = await desk.weft('compare a.jsonl b.jsonl --format json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    schema: 'weft.compare/2',
    method: 'single',
    blocks: [1, 1],
    noise: { from: 'unknown' },
    rows: [
      { column: 'SinglePin', bytes: 4096, interval: null, verdict: 'unclear' },
      { column: 'SinglePin', bytes: 16384, interval: null, verdict: 'unclear' },
    ],
  });
});

test('earlier runs in the folder of A, or in another, prove a change', {
  timeout: 60_000,
}, async () => {
  using desk = new Desk();
  await desk.weft(`${short} --out a.jsonl`);
  const text = slowed(readFileSync(join(desk.folder, 'a.jsonl'), 'utf8'), 1, 'a');
  writeFileSync(join(desk.folder, 'a.jsonl'), text);
  const earlier = text.replace(/"startedAt":"20/, '"startedAt":"19');
  const later = text.replace(/"startedAt":"20/, '"startedAt":"21');
  writeFileSync(join(desk.folder, 'b.jsonl'), slowed(later, 3, 'b'));
  expect((await desk.weft('compare a.jsonl b.jsonl')).exitCode).toBe(0);
  mkdirSync(join(desk.folder, 'past'));
  for (const i of [0, 1, 2, 3]) {
    writeFileSync(
      join(desk.folder, 'past', `${i}.jsonl`),
      slowed(earlier, 1 + i / 500, `past ${i}`),
    );
  }
  const proven = await desk.weft('compare a.jsonl b.jsonl --history past');
  expect(proven.stdout).toMatch(/^write: 2 of 2 rows are 3\.0× slower\n/);
  expect(proven.stdout).toContain('from 4 earlier runs of the same set-up');
  expect(proven.exitCode).toBe(4);
  copyFileSync(join(desk.folder, 'a.jsonl'), join(desk.folder, 'past', 'a.jsonl'));
  expect((await desk.weft('compare past/a.jsonl b.jsonl')).exitCode).toBe(4);
  const check = await desk.weft('check --run b.jsonl --baseline past/a.jsonl');
  expect(check.exitCode).toBe(4);
  expect(check.stdout).toContain('write: 2 of 2 rows are 3.0× slower');
  const nowhere = await desk.weft('compare a.jsonl b.jsonl --history nowhere');
  expect(nowhere).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nowhere') });
});

test('what cannot be compared is said', { timeout: 60_000 }, async () => {
  using desk = new Desk();
  await desk.weft(`${short} --out a.jsonl`);
  await desk.weft(
    'sendrecv --provider shm -b 4K -e 4K --columns SinglePin --budget-ms 5 --quiet --out s.jsonl',
  );
  const mixed = await desk.weft('compare a.jsonl s.jsonl');
  expect(mixed.exitCode).toBe(2);
  expect(mixed.stderr).toContain('different benchmarks: write, sendrecv');
  const none = await desk.weft('compare a.jsonl nowhere.jsonl');
  expect(none.exitCode).toBe(1);
  expect(none.stderr).toContain('nowhere.jsonl does not exist');
  writeFileSync(join(desk.folder, 'next.jsonl'), '{"line":"header","schema":"weft.run/2"}\n');
  const newer = await desk.weft('compare a.jsonl next.jsonl');
  expect(newer.exitCode).toBe(1);
  expect(newer.stderr).toContain('weft.run/2');
  writeFileSync(join(desk.folder, 'empty.jsonl'), '');
  expect((await desk.weft('compare a.jsonl empty.jsonl')).exitCode).toBe(1);
  writeFileSync(
    join(desk.folder, 'half.jsonl'),
    `${readFileSync(join(desk.folder, 'a.jsonl'), 'utf8').split('\n').slice(0, 2).join('\n')}\n`,
  );
  const half = await desk.weft('compare a.jsonl half.jsonl');
  expect(half.exitCode).toBe(1);
  expect(half.stderr).toContain('did not finish');
  await desk.weft(`${short.replace('-b 4K -e 16K', '-b 2K -e 2K')} --out other.jsonl`);
  const strangers = await desk.weft('compare a.jsonl other.jsonl');
  expect(strangers.exitCode).toBe(2);
  expect(strangers.stderr).toContain('A and B have no row in common');
});
