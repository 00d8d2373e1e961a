import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';

const short = 'write --provider shm -b 4K -e 16K -f 4 --columns SinglePin --budget-ms 5 --quiet';

test('repeats are measured on new connections and compared', { timeout: 60_000 }, async () => {
  using desk = new Desk();
  await desk.weft(`${short} --repeats 5 --out a.jsonl`);
  await desk.weft(`${short} --repeats 5 --out b.jsonl`);
  const table = await desk.weft('compare a.jsonl b.jsonl --all --tolerance 1000');
  expect(table.exitCode).toBe(0);
  expect(table.stdout).toContain('write, B compared with A: 2 same');
  expect(table.stdout).toContain('5 blocks of A and 5 of B, one side after the other');
  const json = await desk.weft('compare a.jsonl b.jsonl --format json --tolerance 1000');
  expect(JSON.parse(json.stdout)).toMatchObject({ schema: 'weft.compare/1', method: 'apart' });
});

test('slower gives exit code 4, faster 0', { timeout: 60_000 }, async () => {
  using desk = new Desk();

  await desk.weft(`${short} --repeats 5 --out a.jsonl`);
  const text = readFileSync(join(desk.folder, 'a.jsonl'), 'utf8');
  const slowed = text.replace(/"samples":\[([^\]]*)\]/g, (_, samples: string) => {
    const doubled = samples.split(',').map((sample) => 2 * Number(sample));
    return `"samples":[${doubled.join(',')}]`;
  });
  writeFileSync(join(desk.folder, 'b.jsonl'), slowed);
  expect((await desk.weft('compare a.jsonl b.jsonl')).exitCode).toBe(4);
  expect((await desk.weft('compare b.jsonl a.jsonl')).exitCode).toBe(0);
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
