import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from './processes.js';

const example = fileURLToPath(new URL('../../examples/write-to-each-other.mjs', import.meta.url));

test('the example’s two ranks write to each other', async () => {
  const { code, stdout, stderr } = await run(process.execPath, [example]);
  expect(stdout + stderr).toMatch('rank 1 greets rank 0');
  expect(stdout + stderr).toMatch('rank 0 greets rank 1');
  expect(code).toBe(0);
});
