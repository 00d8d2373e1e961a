import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { run } from './processes.js';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const library = at('../../dist/index.js');
const program = at('../shmem/programs/shmem.mjs');

async function inRanks(ranks: number, what: string, provider: string): Promise<string> {
  const driver = `
    import { spawnRanks } from ${JSON.stringify(library)};
    const job = await spawnRanks({ ranks: ${ranks}, command: process.execPath, args: [${JSON.stringify(program)}, '${what}'] });
    process.exit((await job.done).ok ? 0 : 1);`;
  const args = ['--input-type=module', '-e', driver];
  const { code, stdout, stderr } = await run(process.execPath, args, {
    env: { SHMEM_PROVIDER: provider },
  });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout.trim();
}

const { WEFT_TEST_PROVIDERS: chosen } = process.env;

describe.each(chosen?.split(',') ?? ['shm', 'tcp'])('over %s', (provider) => {
  test('every rank puts a part of every rank’s array', async () => {
    expect(await inRanks(4, 'everyone', provider)).toBe('all there');
  });

  test('what is put after a fence is never seen before what came before it', async () => {
    expect(await inRanks(2, 'fenced', provider)).toBe('in order');
  });

  test('the example rings data around four ranks', async () => {
    const { code, stdout, stderr } = await run(process.execPath, [at('../../examples/ring.mjs')], {
      env: { RING_PROVIDER: provider, RING_RANKS: '4' },
    });
    expect(stdout + stderr).toMatch('3 rounds of 4 ranks: 0 of 10000 sums are wrong');
    expect(code).toBe(0);
  });
});

test('uneven allocation, a full heap, a wrong rank and a long wait are errors', async () => {
  const said = await inRanks(2, 'uneven', 'shm');
  expect(said).toBe('BAD_USAGE MEMORY_LIMIT TypeError TIMEOUT');
});
