import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Dice } from './dice.js';
import { buildChild, findingsFolder, runTarget } from './run-target.js';
import { selfTest } from './targets/self-test.js';

test('a mistake, a promise nobody waits for and a crash are findings, with their inputs', async () => {
  await buildChild();
  const { findings } = await runTarget(selfTest, { seed: 3, from: 10, count: 6 });
  // The first process crashes at its fifth input, and takes what it found with it to stderr.
  expect(findings.map(({ index }) => index)).toEqual([14]);
  expect(findings[0]!.text).toMatch(/exit SIGABRT.*a mistake.*nobody waits/s);
  const path = join(findingsFolder, 'self-test-3-14');
  expect(readFileSync(`${path}.input`, 'utf8')).toBe(selfTest.make(new Dice(3, 14)).shown);
  const told = readFileSync(`${path}.txt`, 'utf8');
  expect(told).toContain('--target self-test --seed 3 --from 14 --inputs 1');
  for (const ending of ['input', 'txt']) rmSync(`${path}.${ending}`);
});
